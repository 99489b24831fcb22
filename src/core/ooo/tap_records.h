/* Records on their way to the tap: those that wait for others, in the order of cycles (records.c),
 * and the one that is open where there are none to wait for (commit_record.h). Only the files of
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

/* The record of the last commit, in the tap's buffer: µops of the same cycle are added to it. */
struct open_record {
    uint64_t *words;  /* of the buffer; those below are among these */
    uint64_t at;      /* its header */
    uint64_t header;  /* which is this */
    uint64_t end;     /* behind it */
    uint64_t limit;   /* beyond this there is no room for another */
    uint64_t records; /* so many since the state of the tap was brought up to date */
};
