#include "trace/held_chunks.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"

static bool copy(struct held_chunk *chunk, const struct item_data *data,
                 struct chunk_events events) {
    uint64_t *copied = (uint64_t *)chunk->data.events;
    const bool good = array_room(copied, chunk->data_capacity, (size_t)data->event_count + 1);
    chunk->data.events = copied;
    if (!good || !array_room(chunk->events, chunk->event_capacity, events.count + 1))
        return false;
    chunk->data = *data;
    chunk->data.events = copied;
    chunk->event_count = events.count;
    if (data->event_count)
        memcpy(copied, data->events, data->event_count * sizeof *copied);
    if (events.count)
        memcpy(chunk->events, events.items, events.count * sizeof *events.items);
    return true;
}

bool held_chunks_add(struct held_chunks *held, const struct item_data *data,
                     struct chunk_events events) {
    if (held->count == held->made &&
        !array_push(held->chunks, held->capacity, held->made, (struct held_chunk){0}))
        return false;
    if (!copy(&held->chunks[held->count], data, events))
        return false;
    held->count++;
    held->insns += data->insn_count;
    return true;
}

void held_chunks_drop(struct held_chunks *held) {
    const struct held_chunk oldest = held->chunks[0];
    held->insns -= oldest.data.insn_count;
    held->count--;
    memmove(held->chunks, held->chunks + 1, (held->made - 1) * sizeof *held->chunks);
    held->chunks[held->made - 1] = oldest;
}

void held_chunks_clear(struct held_chunks *held) {
    held->count = 0;
    held->insns = 0;
}

void held_chunks_free(struct held_chunks *held) {
    for (size_t i = 0; i < held->made; i++) {
        free((uint64_t *)held->chunks[i].data.events);
        free(held->chunks[i].events);
    }
    free(held->chunks);
    *held = (struct held_chunks){0};
}
