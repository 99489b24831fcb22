/* Items of work, numbered from 0, some at once: a pool of threads begins them in their order. The
 * caller's thread waits for them and looks how far they are, or does items like the others.
 *
 * Signals that the process gets are for the caller's thread. */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

struct thread_pool_work {
    size_t count;  /* items */
    uint32_t jobs; /* at once; 0: one for each processor */
    /* On any thread of the pool, whose number is `thread`, from 0. False with an error: no further
     * item is begun. */
    bool (*item)(void *context, uint32_t thread, size_t number, struct error *error);
    /* On the caller's thread, about ten times a second, and when all items have ended; `failed`:
     * an item has, so that those under way are of no use. NULL: that thread does items. */
    void (*look)(void *context, bool failed);
    const volatile sig_atomic_t *stop; /* becomes not 0: no further item is begun. May be NULL */
    void *context;
};

/* Threads that do items, at most. */
uint32_t thread_pool_size(const struct thread_pool_work *work);
/* Returns when no item is under way. False with the error of the first that failed; or no thread
 * can be had. */
bool thread_pool_run(const struct thread_pool_work *work, struct error *error);
