/* What each event of a block is predicted to be: writer and reader of a trace file keep the same
 * predictions (docs/trace-format.md, "Coded events").
 *
 * The slots of a block lie together and move when it gets more; those that it had are not used
 * again until all are reset. Which block has how many follows from the events alone. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    EVENT_FIRST_SLOTS = 4,        /* of a block; then twice as many, and so on up to */
    EVENT_CODE_BLOCK_SLOTS = 1024 /* these: further events share the last */
};

/* Prediction of one event of a block: last + stride. 16 bytes, aligned to them; the first slot of a
 * block, and every fourth from it on, to 64. */
struct event_slot {
    uint64_t last;  /* the event last time */
    int32_t stride; /* the last difference that came twice in a row */
    int32_t delta;  /* the last difference */
};

struct event_predictor {
    struct event_slot **blocks; /* by number + 1: its slots, or NULL; [0] stands for the beginning
                                   of a chunk */
    uint16_t *rooms;            /* likewise: how many slots */
    size_t block_capacity, room_capacity;
    struct event_slot **slabs; /* slots are taken from the last one */
    size_t slab_count, slab_capacity;
    size_t slab_used, slab_room; /* slots of the last one */
    size_t slot_count;           /* that blocks have had since the reset */
    uint32_t chunks;             /* decoded since it was reset */
};

/* Where the next event of the current block is predicted. */
struct event_place {
    struct event_slot *slot; /* NULL: out of memory */
    uint32_t block;          /* number + 1 */
};

void event_predictor_init(struct event_predictor *predictor);
void event_predictor_free(struct event_predictor *predictor);
void event_predictor_reset(struct event_predictor *predictor);

/* The place at the beginning of a chunk, of a process with so many blocks. */
struct event_place event_predictor_begin(struct event_predictor *predictor, uint32_t block_count);

/* Inside of this file: more slots for a block. NULL: out of memory. */
struct event_slot *event_predictor_first(struct event_predictor *predictor, uint32_t block);
struct event_slot *event_predictor_more(struct event_predictor *predictor, uint32_t block);

/* The first slot of a block, which is one of the process. NULL: out of memory. */
static inline struct event_slot *event_predictor_enter(struct event_predictor *predictor,
                                                       uint32_t block) {
    struct event_slot *slot = predictor->blocks[block];
    return __builtin_expect(slot != NULL, 1) ? slot : event_predictor_first(predictor, block);
}

/* The slot behind one of a block. NULL: out of memory. */
static inline struct event_slot *event_predictor_next(struct event_predictor *predictor,
                                                      struct event_slot *slot, uint32_t block) {
    slot++;
    if ((uintptr_t)slot % (EVENT_FIRST_SLOTS * sizeof *slot) == 0 &&
        __builtin_expect(slot == predictor->blocks[block] + predictor->rooms[block], 0))
        return event_predictor_more(predictor, block);
    return slot;
}

static inline uint64_t event_predicted(const struct event_slot *slot) {
    return slot->last + (uint64_t)(int64_t)slot->stride;
}

/* How far off the prediction of the event was. */
static inline uint64_t event_learn(struct event_slot *slot, uint64_t event) {
    const uint64_t difference = event - slot->last;
    const int32_t delta = (int32_t)difference, stride = slot->stride;
    slot->stride = delta == slot->delta ? delta : stride;
    slot->delta = delta;
    slot->last = event;
    return difference - (uint64_t)(int64_t)stride;
}
