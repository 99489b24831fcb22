#include "util/thread_pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "util/jobs.h"

enum { LOOK_AGAIN_NANOSECONDS = 100000000 };

struct pool {
    const struct thread_pool_work *work;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t ended; /* a thread has */
    size_t next;          /* item to begin with */
    uint32_t numbered;    /* threads that have a number */
    uint32_t working;     /* threads */
    bool failed;
    struct error error;
};

static bool has_more(const struct pool *pool) {
    const struct thread_pool_work *work = pool->work;
    return pool->next < work->count && !pool->failed && !(work->stop && *work->stop);
}

static void *do_items(void *context) {
    struct pool *pool = context;
    const struct thread_pool_work *work = pool->work;
    pthread_mutex_lock(&pool->lock);
    const uint32_t thread = pool->numbered++;
    while (has_more(pool)) {
        const size_t number = pool->next++;
        struct error error = {0};
        pthread_mutex_unlock(&pool->lock);
        const bool good = work->item(work->context, thread, number, &error);
        pthread_mutex_lock(&pool->lock);
        if (!good && !pool->failed)
            pool->error = error;
        pool->failed |= !good;
    }
    pool->working--;
    pthread_cond_signal(&pool->ended);
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static void wait_a_while(struct pool *pool) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += LOOK_AGAIN_NANOSECONDS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&pool->ended, &pool->lock, &until);
}

static void look_on(struct pool *pool) {
    for (bool working = true; working;) {
        pthread_mutex_lock(&pool->lock);
        if (pool->working)
            wait_a_while(pool);
        working = pool->working;
        const bool failed = pool->failed;
        pthread_mutex_unlock(&pool->lock);
        pool->work->look(pool->work->context, failed);
    }
}

/* As many as can be had; none begins before all are counted. */
static uint32_t start_threads(struct pool *pool, pthread_t *threads, uint32_t wanted) {
    uint32_t started = 0;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pthread_mutex_lock(&pool->lock);
    while (started < wanted && pthread_create(&threads[started], NULL, do_items, pool) == 0)
        started++;
    pool->working += started;
    pthread_mutex_unlock(&pool->lock);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

uint32_t thread_pool_size(const struct thread_pool_work *work) {
    const uint32_t jobs = jobs_or_processors(work->jobs);
    return jobs < work->count ? jobs : (uint32_t)work->count;
}

bool thread_pool_run(const struct thread_pool_work *work, struct error *error) {
    const uint32_t size = thread_pool_size(work), own = size && !work->look;
    struct pool pool = {.work = work,
                        .lock = PTHREAD_MUTEX_INITIALIZER,
                        .ended = PTHREAD_COND_INITIALIZER,
                        .working = own};
    pthread_t *threads = calloc(size + 1, sizeof *threads);
    if (!threads)
        return error_set(error, "out of memory for threads");
    const uint32_t started = start_threads(&pool, threads, size - own);
    if (own)
        do_items(&pool);
    else if (started)
        look_on(&pool);
    for (uint32_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    if (pool.failed)
        *error = pool.error;
    return !pool.failed && (started || own || !size || error_set(error, "cannot start a thread"));
}
