/* The index of a buffer, made when the first worker asks for it. Inside of src/tap/. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "tap/tap.h"

struct shared_index {
    pthread_mutex_t lock; /* held while it is made */
    atomic_bool made;
    struct tap_index index;
    struct tap_point *points; /* closing, dispatch, fetch */
    size_t capacity;
};

void shared_index_init(struct shared_index *shared);
void shared_index_end(struct shared_index *shared);
/* Drops the index, before the buffer is filled anew. */
static inline void shared_index_forget(struct shared_index *shared) {
    atomic_store_explicit(&shared->made, false, memory_order_relaxed);
}
