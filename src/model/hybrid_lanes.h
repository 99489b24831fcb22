/* Inside of the hybrid model: eight configurations side by side. A lane of a mask is all ones or
 * zero. Plain GNU C: every processor computes the same, lane by lane. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/data_event.h"

enum { HYBRID_LANES = 8 };
typedef double lanes __attribute__((vector_size(8 * HYBRID_LANES)));
typedef int64_t mask_lanes __attribute__((vector_size(8 * HYBRID_LANES)));

/* Lengths of chains are counted in the time to issue one µop, 1 / width cycles, so that what a
 * prefetch hides is whole and every sum exact. They are absolute: they grow from window to window,
 * and an event from before the window at hand is never longer than `base`, the length with which
 * the window began. So nothing is cleared when a window ends, and the sum over all windows is the
 * length of the last. */
struct hybrid_group {
    /* Configurations. */
    lanes rob;
    lanes latency;      /* of memory, in the time to issue one µop: cycles × width */
    lanes mshrs;        /* infinite: unlimited */
    mask_lanes limited; /* MSHRs */
    mask_lanes plain, mlp, prefetching, pending_hits, part_a, part_b, part_c;

    bool any_plain; /* some lane has plain windows */

    /* The window at hand: µops [start, end), outside of it when end is not beyond. */
    lanes start, end;
    lanes base, top; /* length with which it began; the longest in it */
    lanes taken;     /* MSHRs */
    lanes begun;     /* length with which the last window began that has begun */

    lanes last_miss;                        /* position; negative: none yet */
    lanes distance, misses, tardy, windows; /* sums */
    lanes hidden;                           /* µops, of all windows but the last */

    uint64_t next, mask; /* events so far; of the ring below */
    /* Per event: the end of the longest chain to it, and the moment its access begins. */
    struct moment {
        lanes length, issued;
    } * moments;
    uint64_t last_position;
};

void hybrid_group_add(struct hybrid_group *group, const struct data_event *events, uint32_t count);
