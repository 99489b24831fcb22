/* The .ctrace file as its writer and reader share it; docs/trace-format.md is the specification.
 * All numbers are little-endian. */
#pragma once

#include "util/little_endian.h"
#include "util/record.h"

/* File: magic, version, four zero bytes; then records. The first byte is no text, and the line ends
 * reveal a transfer that rewrote them. */
#define FILE_MAGIC                                                                                 \
    "\x89"                                                                                         \
    "CTR\r\n\x1a\n"
/* The last 8 bytes of a complete file; before them the offset of the INDEX record. */
#define FILE_END_MAGIC "CTREND\r\n"

enum {
    FILE_VERSION = 1,
    FILE_PROLOGUE_BYTES = 16,
    RECORD_MAX_BYTES = 16 << 20, /* of a payload, and of a decompressed one */
    FILE_PREDICTORS = 4,         /* sets of predictions; process n uses n % FILE_PREDICTORS */
    FILE_MAX_SLOTS = 1 << 20,    /* predictions in a set beyond which a chunk must reset it */
    FILE_MAX_WEIGHT = 1 << 22,   /* of the sets of threads together; then all are dropped */
    INDEX_ENTRY_BYTES = 24,
    INDEX_MAX_ENTRIES = (RECORD_MAX_BYTES - 32) / INDEX_ENTRY_BYTES
};

enum record_type {
    RECORD_HEADER = 1,
    RECORD_PROCESS,
    RECORD_IMAGE,
    RECORD_CODE,
    RECORD_DATA,
    RECORD_THREAD_END,
    RECORD_NOTE,
    RECORD_END,
    RECORD_INDEX,
    RECORD_SYMBOLS,
    RECORD_THREAD_EVENTS,
    RECORD_PYTHON,
    RECORD_DESCRIBED, /* CODE, described */
    RECORD_TYPE_COUNT
};

enum data_flags {
    DATA_RESET = 1 << 0,      /* predictions are reset before this chunk */
    DATA_COMPRESSED = 1 << 1, /* the coded events are one zstd frame */
    DATA_OWN = 1 << 2         /* the set of predictions is the thread's */
};
