/* A pool of threads makes the runs, each thread with a watch of its own; the caller's thread waits
 * for them, shows how far they are, and hands an interrupt on. Pairs are made one after the other,
 * so that what is there after an interrupt is as many layouts of one build as of the other. */
#include "study/layouts_pool.h"

#include <limits.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "util/command_path.h"
#include "util/jobs.h"

enum { LOOK_AGAIN_NANOSECONDS = 100000000 };

static void note_progress(void *context, const struct progress *progress) {
    struct worker *worker = context;
    atomic_store(&worker->done, progress->done);
}

/* False: there is none left to make. */
static bool next_run(struct pool *pool, uint32_t *number) {
    const struct layouts_run *run = pool->run;
    pthread_mutex_lock(&pool->lock);
    const bool more =
        pool->next < run->count * run->input_count && !pool->failed && !run->watch->signal;
    if (more)
        *number = pool->next++;
    pthread_mutex_unlock(&pool->lock);
    return more;
}

static void end_run(struct worker *worker, bool good, const struct error *error) {
    struct pool *pool = worker->pool;
    pthread_mutex_lock(&pool->lock);
    const uint64_t done = atomic_exchange(&worker->done, 0);
    pool->finished += done;
    pool->finished_runs += done > 0;
    if (!good && !pool->failed) {
        pool->failed = true;
        pool->error = *error;
    }
    pthread_mutex_unlock(&pool->lock);
}

static void *work(void *context) {
    struct worker *worker = context;
    struct pool *pool = worker->pool;
    uint32_t number;
    while (next_run(pool, &number)) {
        struct error error = {0};
        end_run(worker, layouts_make_run(worker, number, &error), &error);
    }
    pthread_mutex_lock(&pool->lock);
    pool->working--;
    pthread_cond_signal(&pool->ended);
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static void hand_on(struct pool *pool) {
    const int signal = pool->run->watch->signal;
    for (uint32_t i = 0; (signal || pool->failed) && i < pool->worker_count; i++)
        if (!pool->workers[i].watch.signal)
            watch_interrupt_other(&pool->workers[i].watch, signal ? signal : SIGTERM);
}

/* All runs are taken to be as long as those that have ended. */
static void show_progress(struct pool *pool) {
    const struct layouts_run *run = pool->run;
    uint64_t done = pool->finished;
    for (uint32_t i = 0; i < pool->worker_count; i++)
        done += atomic_load(&pool->workers[i].done);
    const uint64_t total =
        pool->finished_runs ? pool->finished / pool->finished_runs * run->count * run->input_count
                            : 0;
    watch_progress_of(run->watch, done, total);
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
    for (uint32_t i = 0; i < pool->worker_count; i++)
        pthread_join(pool->workers[i].thread, NULL);
}

static uint32_t jobs_of(const struct layouts_run *run) {
    const uint32_t wanted = jobs_or_processors(run->jobs);
    const uint32_t runs = run->count * run->input_count;
    const uint32_t jobs = wanted < runs ? wanted : runs;
    return jobs < WORKERS_MOST ? jobs : WORKERS_MOST;
}

/* Signals are for the caller's thread. */
static bool start_workers(struct pool *pool, struct error *error) {
    const uint32_t wanted = jobs_of(pool->run);
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
        if (pthread_create(&worker->thread, NULL, work, worker) != 0)
            break;
        pool->worker_count = ++pool->working;
    }
    pthread_mutex_unlock(&pool->lock);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return pool->worker_count || error_set(error, "cannot start a thread");
}

static bool make_runs(struct pool *pool, struct error *error) {
    struct layouts_run *run = pool->run;
    watch_begin(run->watch, "layouts", "instructions", 0);
    const bool good = start_workers(pool, error);
    if (good)
        await_workers(pool);
    watch_end(run->watch);
    for (uint32_t i = 0; i < pool->worker_count; i++) {
        temporaries_free(&pool->workers[i].watch.temporaries);
        pthread_mutex_destroy(&pool->workers[i].watching);
    }
    if (!good)
        return false;
    run->signal = watch_take(run->watch);
    uint32_t least = run->taken[0];
    for (uint32_t i = 1; i < run->input_count; i++)
        least = run->taken[i] < least ? run->taken[i] : least;
    if (run->signal && least)
        return true;
    if (run->signal)
        return error_set(error, "interrupted before the first layout was simulated");
    if (pool->failed)
        *error = pool->error;
    return !pool->failed;
}

/* ---- which road ---- */

static bool explain(struct pool *pool, unsigned number, enum explanation_kind *kind,
                    struct error *error) {
    struct layouts_run *run = pool->run;
    struct road *road = &pool->roads[number];
    /* The run reads from where the one before it began. */
    if (pool->kept.offset >= 0)
        lseek(STDIN_FILENO, pool->kept.offset, SEEK_SET);
    if (!muted_output_open(&road->muted, error))
        return false;
    road->capture = input_capture(&run->inputs[number]);
    road->capture.descriptors[1] = road->muted.files[0];
    watch_limit(run->watch, &road->capture, run->inputs[number].stop);
    const struct explanation_request request = {.watch = run->watch,
                                                .capture = &road->capture,
                                                .machines = run->machines,
                                                .ideal = run->ideal,
                                                .over = run->over,
                                                .kept = run->kept,
                                                .whole = true,
                                                .rerun = true,
                                                .threads = !run->threads.alone,
                                                .sampling = sampling_default(),
                                                .warm_up = run->warm_up,
                                                .simulate_warm_up = run->simulate_warm_up,
                                                .regions = run->regions,
                                                .enough = run->enough};
    road->explanation = explanation_start(&request, &run->failed, error);
    return road->explanation && explanation_go(road->explanation, kind, error);
}

/* The command may still run, and write. */
static void leave(struct road *road) {
    explanation_free(road->explanation);
    road->explanation = NULL;
    muted_output_close(&road->muted);
    road->muted = (struct muted_output){0};
}

/* What is not by regions begins anew, like the other layouts. */
static bool choose_road(struct pool *pool, unsigned number, struct error *error) {
    struct road *road = &pool->roads[number];
    enum explanation_kind kind;
    if (pool->run->over == UINT64_MAX || pool->run->relinks[number])
        return true;
    road->told = true;
    const bool good = explain(pool, number, &kind, error);
    if (pool->run->watch->signal)
        return error_set(error, "interrupted before the first layout was simulated");
    if (!good)
        return false;
    if (kind == EXPLANATION_DONE && explanation_repeats(road->explanation))
        return true;
    road->sampled = kind != EXPLANATION_SHORT;
    leave(road);
    return true;
}

/* Regions that are chosen once begin with what caches hold of code where it lies. */
static bool read_programs(struct pool *pool, struct error *error) {
    const struct layouts_run *run = pool->run;
    pool->moves_code = true;
    for (unsigned i = 0; i < run->input_count && pool->moves_code; i++) {
        char path[PATH_MAX];
        if (run->count == 1 || pool->roads[i].explanation || run->relinks[i] ||
            command_find(run->inputs[i].command[0], path, sizeof path) != 0)
            pool->moves_code = false;
        else if (!movable_code_read(path, &pool->programs[i]))
            return error_set(error, "out of memory for the functions of %s", path);
        else
            pool->moves_code = pool->programs[i].count;
    }
    return true;
}

static bool go(struct pool *pool, struct error *error) {
    struct layouts_run *run = pool->run;
    if (!kept_input_read_all(error) || !kept_input_start(&pool->kept, error))
        return false;
    for (unsigned i = 0; i < run->input_count; i++) {
        run->inputs[i].fixed = true;
        if (!choose_road(pool, i, error))
            return false;
    }
    return read_programs(pool, error) && make_runs(pool, error);
}

bool layouts_run_go(struct layouts_run *run, struct error *error) {
    struct pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return error_set(error, "out of memory for layouts");
    pool->run = run;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->ended, NULL);
    const bool good = go(pool, error);
    for (unsigned i = 0; i < run->input_count; i++) {
        leave(&pool->roads[i]);
        movable_code_free(&pool->programs[i]);
    }
    kept_input_free(&pool->kept);
    pthread_cond_destroy(&pool->ended);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
    return good;
}
