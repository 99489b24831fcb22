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

#include "trace/event_pack.h"
#include "trace/event_predictor.h"
#include "util/error.h"

enum {
    EVENT_CODE_MAX_EVENTS = 1 << 20, /* of one chunk */
    EVENT_CODE_SLACK = 16            /* bytes readable after coded data */
};

/* Upper bound of the coded size. */
static inline size_t event_code_bound(size_t event_count) {
    return event_count / 4 + 10 * event_count + 1 + EVENT_PACK_SLACK;
}

/* Codes events of a process with `block_count` blocks into `coded` (event_code_bound() bytes).
 * False, with the predictor spoilt, when a block number is out of range or memory is out. */
bool event_encode(struct event_predictor *predictor, const struct event_packing *packing,
                  uint32_t block_count, const uint64_t *events, size_t event_count, uint8_t *coded,
                  size_t *coded_size, struct error *error);

/* The reverse; `coded` is followed by EVENT_CODE_SLACK readable bytes. Safe on any bytes. */
bool event_decode(struct event_predictor *predictor, uint32_t block_count, const uint8_t *coded,
                  size_t coded_size, uint64_t *events, size_t event_count, struct error *error);
