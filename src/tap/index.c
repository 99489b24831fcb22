/* Made in one pass over the records. The memory needed is known beforehand, since buffers count
 * their records. */
#include "tap/index.h"

#include <stdlib.h>

#include "util/array.h"

void shared_index_init(struct shared_index *shared) {
    pthread_mutex_init(&shared->lock, NULL);
    atomic_init(&shared->made, false);
}

void shared_index_end(struct shared_index *shared) {
    pthread_mutex_destroy(&shared->lock);
    free(shared->points);
}

static void fill(const struct tap_buffer *buffer, struct tap_point *closing,
                 struct tap_point *dispatch, struct tap_point *fetch) {
    const uint64_t *word = buffer->words, *end = word + buffer->used;
    struct tap_state at = buffer->start;
    while (word < end) {
        struct tap_record record;
        struct tap_point point = {.word = (uint32_t)(word - buffer->words)};
        word = tap_read(word, &record);
        point.cycle = at.cycle + record.delta;
        switch (record.kind) {
        case TAP_COMMIT:
        case TAP_FLUSH:
            point.sequence = at.uop;
            *closing++ = point;
            break;
        case TAP_DISPATCH:
            point.sequence = at.dispatched;
            *dispatch++ = point;
            break;
        case TAP_FETCH:
            point.sequence = at.fetched;
            *fetch++ = point;
            break;
        }
        tap_advance(&at, &record);
    }
}

static bool make(const struct tap_buffer *buffer, struct shared_index *shared) {
    uint32_t closing = buffer->records[TAP_COMMIT] + buffer->records[TAP_FLUSH];
    uint32_t dispatch = buffer->records[TAP_DISPATCH], fetch = buffer->records[TAP_FETCH];
    if (!array_room(shared->points, shared->capacity, (size_t)closing + dispatch + fetch + 1))
        return false;
    struct tap_point *points = shared->points;
    fill(buffer, points, points + closing, points + closing + dispatch);
    shared->index = (struct tap_index){points,  points + closing, points + closing + dispatch,
                                       closing, dispatch,         fetch};
    return true;
}

const struct tap_index *tap_index(const struct tap_buffer *buffer) {
    struct shared_index *shared = buffer->index;
    if (atomic_load_explicit(&shared->made, memory_order_acquire))
        return &shared->index;
    pthread_mutex_lock(&shared->lock);
    bool made = atomic_load_explicit(&shared->made, memory_order_relaxed) || make(buffer, shared);
    atomic_store_explicit(&shared->made, made, memory_order_release);
    pthread_mutex_unlock(&shared->lock);
    return made ? &shared->index : NULL;
}
