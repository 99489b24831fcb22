/* A pool of threads (util/thread_pool.h) of which each has a watch of its own; the caller's thread
 * shows how far all items are, and hands an interrupt on. */
#pragma once

#include <stdint.h>

#include "study/study.h"

struct pool_work {
    struct watch *watch; /* of the caller's thread: once it is interrupted, no item is begun */
    const char *label;   /* of progress, in instructions */
    size_t count;        /* items */
    uint32_t jobs;       /* at once; 0: one for each processor */
    /* Instructions of an item, as known before it is begun. NULL: all items are taken to be as long
     * as those that have ended. */
    uint64_t (*size)(void *context, size_t number);
    /* On any thread. False with an error: no further item is begun, and those under way are
     * interrupted. */
    bool (*item)(void *context, size_t number, struct watch *watch, struct error *error);
    void *context;
};

/* False with the error of the first item that failed. */
bool pool_run(const struct pool_work *work, struct error *error);
