/* The slice that a core is in, and a golden reference, with Oracle, of that core alone, so that
 * what it gained in the slice can be told from what others did. */
#pragma once

#include "simulate/slicing.h"
#include "util/error.h"

struct slice_recorder {
    const struct slicing *slicing;
    struct golden *golden; /* NULL: not begun */
    uint32_t thread;
    uint64_t position;                /* in the thread; counted by the caller */
    uint64_t first, end;              /* of the slice, likewise */
    uint64_t states[STATE_COUNT];     /* what Oracle had when it began */
    uint64_t units[PSV_COMBINATIONS]; /* and the golden reference */
};

/* slice_recorder_free() either way. */
bool slice_recorder_begin(struct slice_recorder *recorder, const struct slicing *slicing,
                          uint32_t thread, struct error *error);
void slice_recorder_free(struct slice_recorder *recorder); /* may be all zero */

/* Fills in the states and parts that were gained since the slice began, and begins the next at the
 * position reached. The tap must have been flushed. */
void slice_recorder_read(struct slice_recorder *recorder, struct slice_record *record);

/* Adds all that was recorded to a total and to a profile, and has it no more. False: out of memory.
 */
bool slice_recorder_move(struct slice_recorder *recorder, struct oracle_result *total,
                         struct pics *golden);

void oracle_result_add(struct oracle_result *total, const struct oracle_result *more);
