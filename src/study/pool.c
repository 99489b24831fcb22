#include "study/pool.h"

#include <stdlib.h>
#include <time.h>

#include "util/jobs.h"

enum { WORKERS_MOST = 64, LOOK_AGAIN_NANOSECONDS = 100000000 };

struct pool;
struct worker {
    struct pool *pool;
    pthread_t thread;
    struct watch watch;
    pthread_mutex_t watching;
    _Atomic uint64_t done; /* instructions of the item under way */
};

struct pool {
    const struct pool_work *work;
    struct worker workers[WORKERS_MOST];
    uint32_t worker_count, working;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t ended;
    size_t next;              /* item to begin with */
    uint64_t finished, total; /* instructions */
    uint32_t finished_items;  /* that have any */
    bool failed;
    struct error error;
};

static void note_progress(void *context, const struct progress *progress) {
    struct worker *worker = context;
    atomic_store(&worker->done, progress->done);
}

/* False: there is none left to do. */
static bool next_item(struct pool *pool, size_t *number) {
    pthread_mutex_lock(&pool->lock);
    const bool more = pool->next < pool->work->count && !pool->failed && !pool->work->watch->signal;
    if (more)
        *number = pool->next++;
    pthread_mutex_unlock(&pool->lock);
    return more;
}

static void do_item(struct worker *worker, size_t number) {
    struct pool *pool = worker->pool;
    const struct pool_work *work = pool->work;
    struct error error = {0};
    const uint64_t size = work->size ? work->size(work->context, number) : 0;
    const bool good = work->item(work->context, number, &worker->watch, &error);
    pthread_mutex_lock(&pool->lock);
    const uint64_t done = atomic_exchange(&worker->done, 0);
    pool->finished += work->size ? size : done;
    pool->finished_items += done > 0;
    if (!good && !pool->failed) {
        pool->failed = true;
        pool->error = error;
    }
    pthread_mutex_unlock(&pool->lock);
}

static void *do_items(void *context) {
    struct worker *worker = context;
    struct pool *pool = worker->pool;
    size_t number;
    while (next_item(pool, &number))
        do_item(worker, number);
    pthread_mutex_lock(&pool->lock);
    pool->working--;
    pthread_cond_signal(&pool->ended);
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static void hand_on(struct pool *pool) {
    const int signal = pool->work->watch->signal;
    for (uint32_t i = 0; (signal || pool->failed) && i < pool->worker_count; i++)
        if (!pool->workers[i].watch.signal)
            watch_interrupt_other(&pool->workers[i].watch, signal ? signal : SIGTERM);
}

static void show_progress(struct pool *pool) {
    uint64_t done = pool->finished, total = pool->total;
    for (uint32_t i = 0; i < pool->worker_count; i++)
        done += atomic_load(&pool->workers[i].done);
    if (!pool->work->size && pool->finished_items)
        total = pool->finished / pool->finished_items * pool->work->count;
    else if (pool->work->size && done > total)
        done = total;
    watch_progress_of(pool->work->watch, done, total);
}

static void await_workers(struct pool *pool) {
    pthread_mutex_lock(&pool->lock);
    while (pool->working) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += LOOK_AGAIN_NANOSECONDS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&pool->ended, &pool->lock, &until);
        show_progress(pool);
        hand_on(pool);
    }
    pthread_mutex_unlock(&pool->lock);
    for (uint32_t i = 0; i < pool->worker_count; i++) {
        struct worker *worker = &pool->workers[i];
        pthread_join(worker->thread, NULL);
        temporaries_free(&worker->watch.temporaries);
        pthread_mutex_destroy(&worker->watching);
    }
}

static bool start_worker(struct pool *pool, struct worker *worker) {
    worker->pool = pool;
    pthread_mutex_init(&worker->watching, NULL);
    worker->watch.lock = &worker->watching;
    worker->watch.observe = note_progress;
    worker->watch.context = worker;
    if (pthread_create(&worker->thread, NULL, do_items, worker) == 0)
        return true;
    pthread_mutex_destroy(&worker->watching);
    return false;
}

/* Signals are for the caller's thread. */
static void start_workers(struct pool *pool) {
    const size_t jobs = jobs_or_processors(pool->work->jobs);
    const size_t wanted = jobs < pool->work->count ? jobs : pool->work->count;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pthread_mutex_lock(&pool->lock);
    while (pool->working < wanted && pool->working < WORKERS_MOST &&
           start_worker(pool, &pool->workers[pool->working]))
        pool->worker_count = ++pool->working;
    pthread_mutex_unlock(&pool->lock);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

bool pool_run(const struct pool_work *work, struct error *error) {
    struct pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return error_set(error, "out of memory for threads");
    pool->work = work;
    for (size_t i = 0; work->size && i < work->count; i++)
        pool->total += work->size(work->context, i);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->ended, NULL);
    watch_begin(work->watch, work->label, "instructions", pool->total);
    start_workers(pool);
    bool good = !work->count || pool->worker_count || error_set(error, "cannot start a thread");
    await_workers(pool);
    watch_end(work->watch);
    if (pool->failed)
        *error = pool->error;
    good = good && !pool->failed;
    pthread_cond_destroy(&pool->ended);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
    return good;
}
