#include "study/pool.h"

#include <stdlib.h>

#include "util/jobs.h"
#include "util/thread_pool.h"

enum { WORKERS_MOST = 64 };

struct worker {
    struct watch watch;
    pthread_mutex_t watching;
    _Atomic uint64_t done; /* instructions of the item under way */
};

struct pool {
    const struct pool_work *work;
    struct worker workers[WORKERS_MOST];
    pthread_mutex_t lock;     /* of what follows */
    uint64_t finished, total; /* instructions */
    uint32_t finished_items;  /* that have any */
};

static void note_progress(void *context, const struct progress *progress) {
    struct worker *worker = context;
    atomic_store(&worker->done, progress->done);
}

static bool do_item(void *context, uint32_t thread, size_t number, struct error *error) {
    struct pool *pool = context;
    struct worker *worker = &pool->workers[thread];
    const struct pool_work *work = pool->work;
    const uint64_t size = work->size ? work->size(work->context, number) : 0;
    const bool good = work->item(work->context, number, &worker->watch, error);
    pthread_mutex_lock(&pool->lock);
    const uint64_t done = atomic_exchange(&worker->done, 0);
    pool->finished += work->size ? size : done;
    pool->finished_items += done > 0;
    pthread_mutex_unlock(&pool->lock);
    return good;
}

static void hand_on(struct pool *pool, bool failed) {
    const int signal = pool->work->watch->signal;
    for (uint32_t i = 0; (signal || failed) && i < WORKERS_MOST; i++)
        if (!pool->workers[i].watch.signal)
            watch_interrupt_other(&pool->workers[i].watch, signal ? signal : SIGTERM);
}

static void show_progress(struct pool *pool) {
    pthread_mutex_lock(&pool->lock);
    uint64_t done = pool->finished, total = pool->total;
    for (uint32_t i = 0; i < WORKERS_MOST; i++)
        done += atomic_load(&pool->workers[i].done);
    if (!pool->work->size && pool->finished_items)
        total = pool->finished / pool->finished_items * pool->work->count;
    else if (pool->work->size && done > total)
        done = total;
    pthread_mutex_unlock(&pool->lock);
    watch_progress_of(pool->work->watch, done, total);
}

static void look(void *context, bool failed) {
    struct pool *pool = context;
    show_progress(pool);
    hand_on(pool, failed);
}

static void open_worker(struct worker *worker) {
    pthread_mutex_init(&worker->watching, NULL);
    worker->watch.lock = &worker->watching;
    worker->watch.observe = note_progress;
    worker->watch.context = worker;
}

static void close_worker(struct worker *worker) {
    temporaries_free(&worker->watch.temporaries);
    pthread_mutex_destroy(&worker->watching);
}

bool pool_run(const struct pool_work *work, struct error *error) {
    const uint32_t jobs = jobs_or_processors(work->jobs);
    struct pool *pool = calloc(1, sizeof *pool);
    const struct thread_pool_work items = {.count = work->count,
                                           .jobs = jobs < WORKERS_MOST ? jobs : WORKERS_MOST,
                                           .item = do_item,
                                           .look = look,
                                           .stop = &work->watch->signal,
                                           .context = pool};
    if (!pool)
        return error_set(error, "out of memory for threads");
    pool->work = work;
    for (size_t i = 0; work->size && i < work->count; i++)
        pool->total += work->size(work->context, i);
    pthread_mutex_init(&pool->lock, NULL);
    for (uint32_t i = 0; i < WORKERS_MOST; i++)
        open_worker(&pool->workers[i]);
    watch_begin(work->watch, work->label, "instructions", pool->total);
    const bool good = thread_pool_run(&items, error);
    watch_end(work->watch);
    for (uint32_t i = 0; i < WORKERS_MOST; i++)
        close_worker(&pool->workers[i]);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
    return good;
}
