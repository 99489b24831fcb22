/* A ring of jobs under one lock. Jobs are long (tens of microseconds and more), so the lock does
 * not matter; both sides sleep when there is nothing to do, and are woken when there is: a waiter
 * when its job has run, not after each before it. */
#include "util/executor.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

enum { QUEUE = 64 };

struct executor {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t submitted, finished;
    uint64_t submitted_count, finished_count;
    uint64_t awaited; /* the lowest ticket that somebody sleeps for; UINT64_MAX: none */
    bool ends;
    struct {
        void (*run)(void *context, uint64_t argument);
        void *context;
        uint64_t argument;
    } jobs[QUEUE];
};

static void *work(void *context) {
    struct executor *executor = context;
    pthread_mutex_lock(&executor->lock);
    for (;;) {
        while (executor->finished_count == executor->submitted_count && !executor->ends)
            pthread_cond_wait(&executor->submitted, &executor->lock);
        if (executor->finished_count == executor->submitted_count)
            break;
        uint64_t slot = executor->finished_count % QUEUE;
        pthread_mutex_unlock(&executor->lock);
        executor->jobs[slot].run(executor->jobs[slot].context, executor->jobs[slot].argument);
        pthread_mutex_lock(&executor->lock);
        if (++executor->finished_count >= executor->awaited) {
            executor->awaited = UINT64_MAX;
            pthread_cond_broadcast(&executor->finished);
        }
    }
    pthread_mutex_unlock(&executor->lock);
    return NULL;
}

struct executor *executor_new(const char *name, struct error *error) {
    struct executor *executor = calloc(1, sizeof *executor);
    if (!executor)
        return error_null(error, "out of memory for a thread");
    executor->awaited = UINT64_MAX;
    pthread_mutex_init(&executor->lock, NULL);
    pthread_cond_init(&executor->submitted, NULL);
    pthread_cond_init(&executor->finished, NULL);
    sigset_t others, before;
    sigfillset(&others);
    sigdelset(&others, SIGPIPE); /* which its own writes raise */
    pthread_sigmask(SIG_BLOCK, &others, &before);
    int number = pthread_create(&executor->thread, NULL, work, executor);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (number) {
        errno = number;
        error_errno(error, "cannot start the %s thread", name);
        free(executor);
        return NULL;
    }
    pthread_setname_np(executor->thread, name);
    return executor;
}

void executor_free(struct executor *executor) {
    if (!executor)
        return;
    pthread_mutex_lock(&executor->lock);
    executor->ends = true;
    pthread_cond_signal(&executor->submitted);
    pthread_mutex_unlock(&executor->lock);
    pthread_join(executor->thread, NULL);
    pthread_mutex_destroy(&executor->lock);
    pthread_cond_destroy(&executor->submitted);
    pthread_cond_destroy(&executor->finished);
    free(executor);
}

/* Sleeps until the job with this ticket has run. Under the lock. */
static void await(struct executor *executor, uint64_t ticket) {
    while (executor->finished_count < ticket) {
        if (ticket < executor->awaited)
            executor->awaited = ticket;
        pthread_cond_wait(&executor->finished, &executor->lock);
    }
}

uint64_t executor_submit(struct executor *executor, void (*job)(void *context, uint64_t argument),
                         void *context, uint64_t argument) {
    pthread_mutex_lock(&executor->lock);
    if (executor->submitted_count >= QUEUE)
        await(executor, executor->submitted_count + 1 - QUEUE);
    uint64_t slot = executor->submitted_count % QUEUE;
    executor->jobs[slot].run = job;
    executor->jobs[slot].context = context;
    executor->jobs[slot].argument = argument;
    uint64_t ticket = ++executor->submitted_count;
    pthread_cond_signal(&executor->submitted);
    pthread_mutex_unlock(&executor->lock);
    return ticket;
}

void executor_wait(struct executor *executor, uint64_t ticket) {
    pthread_mutex_lock(&executor->lock);
    await(executor, ticket);
    pthread_mutex_unlock(&executor->lock);
}

bool executor_has_run(struct executor *executor, uint64_t ticket) {
    pthread_mutex_lock(&executor->lock);
    const bool run = executor->finished_count >= ticket;
    pthread_mutex_unlock(&executor->lock);
    return run;
}
