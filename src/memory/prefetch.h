/* Which lines a prefetcher asks for after a demand access to its cache: an address step and a
 * number of steps. hierarchy.c then fetches those that are not there.
 *
 * A prefetcher is a row of machine/prefetchers.def, a function word_step() declared here, in a file
 * of its own, and what it remembers, if anything, in struct prefetcher. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "machine/machine.h"

#define NO_INSN UINT32_MAX /* access of no known instruction: trains no table */

/* The stride prefetcher's table: Baer and Chen's reference prediction table (stride.c). */
enum { STRIDE_SETS = 32, STRIDE_WAYS = 4 };
enum stride_state { STRIDE_INITIAL, STRIDE_TRANSIENT, STRIDE_STEADY, STRIDE_NO_PREDICTION };
struct stride_entry {
    uint64_t last; /* address */
    int64_t stride;
    uint64_t used;          /* in uses of the prefetcher; 0: never */
    uint32_t insn_plus_one; /* 0: empty */
    uint8_t state;
    uint8_t steps; /* equal ones in a row; no more are counted than are needed */
};

/* The stream prefetcher's streams (stream.c). */
enum { STREAMS = 32, STREAM_BYTES = 4096, STREAM_HINTS = 64 };
struct stream {
    uint64_t region_plus_one; /* address / STREAM_BYTES; 0: empty */
    uint64_t used;            /* in uses of the prefetcher; 0: never */
    uint32_t last;            /* offset in the region of the last line, */
    int32_t farthest;         /* and of the farthest that was asked for (streamer.c) */
    int8_t direction;         /* 1 ascending, -1 descending, 0: not known yet */
    uint8_t steps;            /* so far in that direction; no more are counted than are needed */
};

/* What the up/down prefetcher knows (up_down.c). */
enum { UP_DOWN_LINES = 64 };
struct up_down {
    uint64_t lines_plus_one[UP_DOWN_LINES]; /* that were asked for last, by their last bits */
    uint8_t up, down;
};

struct prefetcher {
    enum prefetcher_kind kind;
    bool in_page, by_instruction; /* of its row */
    uint8_t start;                /* steps before it asks for anything; 0: its own */
    uint32_t degree;              /* lines or strides ahead per trigger, at most */
    uint32_t reach;               /* of the last trigger; `degree` where all are alike */
    uint64_t uses; /* of the tables of strides and streams, to know the least recent */
    union {
        struct stride_entry stride[STRIDE_SETS][STRIDE_WAYS];
        struct {
            struct stream streams[STREAMS];
            uint8_t hints[STREAM_HINTS]; /* by low bits of a region: the stream that had it last */
        };
        struct up_down up_down;
    };
};

/* An untrained prefetcher. `degree` 0 stands for 1; `start` ≤ 255. */
void prefetcher_init(struct prefetcher *prefetcher, enum prefetcher_kind kind, uint32_t degree,
                     uint32_t start);

/* A demand access. */
struct prefetch_trigger {
    uint64_t address;
    uint32_t line_bytes;
    uint32_t insn;  /* that made it; NO_INSN: not known */
    bool missed;    /* it started a fill */
    bool first_use; /* of a line that a prefetch fetched */
};

/* One more access. Returns its stream, the prefetcher's, once it has made as many steps in a
 * direction as the prefetcher starts with, or as `own`; NULL before, and again on the same line. */
struct stream *stream_follow(struct prefetcher *prefetcher, const struct prefetch_trigger *trigger,
                             uint8_t own);

/* Trains the prefetcher with the access. Returns the step in bytes from its address to the first
 * prefetch, which is also the step from each prefetch to the next; 0: no prefetch. */
int64_t prefetch_step(struct prefetcher *prefetcher, const struct prefetch_trigger *trigger);

#define PREFETCHER(value, word, in_page, by_instruction)                                           \
    int64_t word##_step(struct prefetcher *prefetcher, const struct prefetch_trigger *trigger);
#include "machine/prefetchers.def"
#undef PREFETCHER
