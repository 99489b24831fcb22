/* A pool of threads simulates the points in their order, each thread with a watch of its own; the
 * caller's thread waits for them, shows how far they are, and hands an interrupt on (as
 * study/layouts.c). */
#include <stdlib.h>
#include <time.h>

#include "study/design_kept.h"
#include "study/design_pool.h"
#include "util/jobs.h"

enum { WORKERS_MOST = 64, LOOK_AGAIN_NANOSECONDS = 100000000 };

struct pool;
struct worker {
    struct pool *pool;
    pthread_t thread;
    struct watch watch;
    pthread_mutex_t watching;
    _Atomic uint64_t done; /* instructions of the point under way */
};

struct pool {
    struct design *design;
    struct worker workers[WORKERS_MOST];
    uint32_t worker_count, working;
    pthread_mutex_t lock; /* of what follows, and of what points say */
    pthread_cond_t ended;
    size_t next;              /* point to begin with */
    uint64_t finished, total; /* instructions */
};

static void note_progress(void *context, const struct progress *progress) {
    struct worker *worker = context;
    atomic_store(&worker->done, progress->done);
}

static uint64_t work_of(const struct design *design, const struct design_point *point) {
    return design_capture_work(&design->programs[point->program].capture);
}

/* NULL: there is none left. */
static struct design_point *next_point(struct pool *pool) {
    struct design *design = pool->design;
    struct design_point *point = NULL;
    pthread_mutex_lock(&pool->lock);
    while (!point && pool->next < design->point_count && !design->watch->signal) {
        struct design_point *candidate = &design->points[pool->next++];
        point = candidate->state == DESIGN_OPEN ? candidate : NULL;
    }
    pthread_mutex_unlock(&pool->lock);
    return point;
}

static void end_point(struct worker *worker, struct design_point *point, bool good,
                      const struct error *error) {
    struct pool *pool = worker->pool;
    struct design *design = pool->design;
    struct error unkept = {0};
    const bool ended = worker->watch.signal;
    if (good && !ended)
        design_keep_point(design->folder, point->key, &point->result, &unkept);
    pthread_mutex_lock(&pool->lock);
    atomic_store(&worker->done, 0);
    pool->finished += work_of(design, point);
    if (good && !ended) {
        point->state = DESIGN_DONE;
        design->simulated++;
    } else if (!ended) {
        point->state = DESIGN_FAILED;
        point->failure = *error;
        design->failed++;
    }
    if (unkept.message[0] && !design->late.message[0])
        design->late = unkept;
    pthread_mutex_unlock(&pool->lock);
}

static void *work(void *context) {
    struct worker *worker = context;
    struct pool *pool = worker->pool;
    struct design_point *point;
    while ((point = next_point(pool))) {
        struct error error = {0};
        const bool good = design_simulate(pool->design, point, &worker->watch, &error);
        end_point(worker, point, good, &error);
    }
    pthread_mutex_lock(&pool->lock);
    pool->working--;
    pthread_cond_signal(&pool->ended);
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static void await_workers(struct pool *pool) {
    struct watch *watch = pool->design->watch;
    pthread_mutex_lock(&pool->lock);
    while (pool->working) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += LOOK_AGAIN_NANOSECONDS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&pool->ended, &pool->lock, &until);
        uint64_t done = pool->finished;
        for (uint32_t i = 0; i < pool->worker_count; i++)
            done += atomic_load(&pool->workers[i].done);
        watch_progress_of(watch, done < pool->total ? done : pool->total, pool->total);
        for (uint32_t i = 0; watch->signal && i < pool->worker_count; i++)
            if (!pool->workers[i].watch.signal)
                watch_interrupt_other(&pool->workers[i].watch, watch->signal);
    }
    pthread_mutex_unlock(&pool->lock);
    for (uint32_t i = 0; i < pool->worker_count; i++)
        pthread_join(pool->workers[i].thread, NULL);
}

static uint32_t jobs_of(const struct design *design, size_t open) {
    const uint32_t wanted = jobs_or_processors(design->jobs);
    const uint32_t jobs = wanted < open ? wanted : (uint32_t)open;
    return jobs < WORKERS_MOST ? jobs : WORKERS_MOST;
}

/* Signals are for the caller's thread. */
static void start_workers(struct pool *pool, uint32_t wanted) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pthread_mutex_lock(&pool->lock);
    for (uint32_t i = 0; i < wanted; i++) {
        struct worker *worker = &pool->workers[i];
        worker->pool = pool;
        pthread_mutex_init(&worker->watching, NULL);
        worker->watch.lock = &worker->watching;
        worker->watch.observe = note_progress;
        worker->watch.context = worker;
        if (pthread_create(&worker->thread, NULL, work, worker) != 0) {
            pthread_mutex_destroy(&worker->watching);
            break;
        }
        pool->worker_count = ++pool->working;
    }
    pthread_mutex_unlock(&pool->lock);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

bool design_simulate_all(struct design *design, struct error *error) {
    struct pool *pool = calloc(1, sizeof *pool);
    size_t open = 0;
    if (!pool)
        return error_set(error, "out of memory for points");
    pool->design = design;
    for (size_t i = 0; i < design->point_count; i++)
        if (design->points[i].state == DESIGN_OPEN) {
            open++;
            pool->total += work_of(design, &design->points[i]);
        }
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->ended, NULL);
    watch_begin(design->watch, "simulating points", "instructions", pool->total);
    start_workers(pool, jobs_of(design, open));
    const bool good = !open || pool->worker_count || error_set(error, "cannot start a thread");
    if (good)
        await_workers(pool);
    watch_end(design->watch);
    for (uint32_t i = 0; i < pool->worker_count; i++) {
        temporaries_free(&pool->workers[i].watch.temporaries);
        pthread_mutex_destroy(&pool->workers[i].watching);
    }
    pthread_cond_destroy(&pool->ended);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
    return good;
}
