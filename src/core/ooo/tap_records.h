/* Records that wait to be shown on the tap, in the order of cycles (records.c). Only the files of
 * this folder include this. */
#pragma once

#include <stdint.h>

/* A record of the tap whose cycle has come for all that may come before it, or not yet (records.c).
 */
struct waiting_record {
    uint64_t cycle, first; /* µop */
    uint64_t empty, word;  /* as in the record; the payload of a flush */
    uint32_t count;
    uint8_t kind, flags; /* enum tap_kind, enum tap_empty */
};
struct record_queue {
    struct waiting_record *items;
    uint32_t begin, end;
};
