/* Inside of this room: copies of the last chunks of a thread, oldest first. */
#pragma once

#include "trace/item.h"
#include "trace/region_writer.h"

struct held_chunk {
    struct item_data data;       /* events are its own */
    struct thread_event *events; /* of its thread */
    size_t event_count;
    size_t data_capacity, event_capacity;
};

struct held_chunks {
    struct held_chunk *chunks; /* those from `count` on are room for others */
    size_t count, made, capacity;
    uint64_t insns;
};

/* False: out of memory. */
bool held_chunks_add(struct held_chunks *held, const struct item_data *data,
                     struct chunk_events events);
/* The oldest, of which there is one. */
void held_chunks_drop(struct held_chunks *held);
void held_chunks_clear(struct held_chunks *held);
void held_chunks_free(struct held_chunks *held);
