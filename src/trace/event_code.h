/* The compact code of a chunk of events (docs/trace-format.md, "Coded events").
 *
 * Writer and reader keep the same predictions: for every block, what each event of its last
 * execution was. An event becomes a two-bit class and as many bytes as its distance from the
 * prediction needs, most often none. Predictions live on from chunk to chunk until they are reset;
 * both sides must see the same chunks in the same order. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

enum {
    EVENT_CODE_MAX_EVENTS = 1 << 20, /* of one chunk */
    EVENT_CODE_SLACK = 16,           /* bytes readable after coded data */
    EVENT_CODE_BLOCK_SLOTS = 1024    /* predictions per block; further events share the last */
};

/* Prediction of one event of a block: last + stride. */
struct event_slot {
    uint64_t last;  /* the event last time */
    int32_t stride; /* the last difference that came twice in a row */
    int32_t delta;  /* the last difference */
};

struct event_predictor {
    struct event_block {
        uint32_t first, end; /* its slots; equal: none yet */
    } * blocks;              /* by number + 1; [0] stands for the beginning of a chunk */
    size_t block_capacity;
    struct event_slot *slots;
    size_t slot_count, slot_capacity;
    uint32_t chunks; /* decoded since it was reset */
};

/* How to pack four numbers, by their classes: which bytes are used, and how many. */
struct event_packing {
    uint8_t shuffle[256][16], shuffle_bytes[256];
};
void event_packing_init(struct event_packing *packing);

void event_predictor_init(struct event_predictor *predictor);
void event_predictor_free(struct event_predictor *predictor);
void event_predictor_reset(struct event_predictor *predictor);

/* Upper bound of the coded size. */
static inline size_t event_code_bound(size_t event_count) {
    return event_count / 4 + 12 * event_count + 64;
}

/* Codes events of a process with `block_count` blocks into `coded` (event_code_bound() bytes).
 * False, with the predictor spoilt, when a block number is out of range or memory is out. */
bool event_encode(struct event_predictor *predictor, const struct event_packing *packing,
                  uint32_t block_count, const uint64_t *events, size_t event_count, uint8_t *coded,
                  size_t *coded_size, struct error *error);

/* The reverse; `coded` is followed by EVENT_CODE_SLACK readable bytes. Safe on any bytes. */
bool event_decode(struct event_predictor *predictor, uint32_t block_count, const uint8_t *coded,
                  size_t coded_size, uint64_t *events, size_t event_count, struct error *error);
