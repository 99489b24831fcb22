/* A cache that others use too. What they fetch takes the place of lines that this program has not
 * used for some time. Nobody knows their accesses, but how long a line stays can be measured
 * (docs/results/hosts/granite-rapids.md):
 *
 * - `retention`: cycles that a line stays after its last use, of one that was used here since it
 *   was fetched.
 * - `first_retention`: of one that was not. A cache that predicts reuse lets these go first (Jaleel
 *   et al. 2010).
 * - `retention_shape`, `first_shape`: lines do not all stay as long. Others' lines come to a set at
 *   any time, and a line leaves with the one that takes its place: so many cycles after its use as
 *   an Erlang distribution of this shape has, whose median is the above. With shape 0 all stay as
 *   long.
 * - `admission`: per cent of the lines that are fetched which are kept at all.
 * - `readmission`: likewise, of lines that were here before, and were used last not longer ago than
 *   `retention`.
 *
 * - `shared_ways`: so long stays a line behind which the program uses no other one of its set.
 *   Lines that it used later have their places: of W ways L are theirs, and what the others fetch
 *   pushes the line out in (W - L) / W of that time. (In a set that goes by last use a line leaves
 *   when W lines came after it, whosever they are; Chandra et al. 2005.)
 *
 * Which lines are kept is drawn from a generator with a fixed seed; how long one stays follows from
 * its place and the cycle of its use. The program's own lines push each other out beside that, as
 * in any cache. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/machine.h"

enum { RETENTION_TIMES = 64 };

struct retention {
    uint64_t *seen; /* by line: cycle of its last use, above RETENTION_*; NULL: nobody else is
                       there, and none of the below is called */
    /* Cycles that a line stays: times that are equally likely, ascending. */
    uint64_t used_for[RETENTION_TIMES], first_for[RETENTION_TIMES];
    uint64_t retention;              /* cycles; as the machine has it */
    uint32_t admission, readmission; /* per cent */
    uint32_t shared_ways;            /* 0: the program's own lines do not matter */
    uint64_t random;                 /* state of the generator */
    uint64_t begin;                  /* of the caller's time, in cycles since all began */
    uint64_t left;                   /* line that was found to have left last, and was used ... */
    uint64_t left_seen;              /* ... in this cycle, as `seen` has it */
};
enum { RETENTION_KEPT = 1 << 0, RETENTION_USED = 1 << 1, RETENTION_SHIFT = 2 };

/* `seen`: the caller's array, all zero. */
void retention_start(struct retention *retention, const struct machine_cache *machine,
                     uint64_t *seen);

/* True: others have taken the place of the line at an index, or it was not kept. */
bool retention_lost(struct retention *retention, size_t index, uint64_t line, uint64_t cycle);
/* A line is read. One that is not kept, and was waited for, is not kept by that. */
void retention_used(struct retention *retention, size_t index, uint64_t cycle);
/* A line is written back to one among the tags. False: that was not kept, or has left. */
bool retention_written(struct retention *retention, size_t index, uint64_t cycle);
/* A line was accessed so many times more, so many cycles apart, the last time in cycle `last`. */
void retention_again(struct retention *retention, size_t index, uint64_t count, uint64_t apart,
                     uint64_t last);
/* A line comes, from memory or written back. It is to be read once, or may be; from then on it may
 * not be there. False: it is not kept. */
bool retention_put(struct retention *retention, size_t index, uint64_t line, uint64_t cycle);

/* The caller's time begins anew, so many cycles after it began. */
void retention_restart(struct retention *retention, uint64_t after);
/* Time, and what is drawn, goes on as in `from`. */
void retention_copy(struct retention *retention, const struct retention *from);
