/* The hybrid model without windows: a reorder buffer that slides along the events of a trace. Of
 * each event it is known when it is dispatched, begins, has its data and commits, in a machine that
 * does all else at full width; what a trace takes longer with the memory's latency than with that
 * of a hit in the last level is due to long data misses.
 *
 * Not in Chen 2009, whose windows (hybrid.h) approximate it: chains that reach beyond a window are
 * not cut, misses overlap whenever both are in the reorder buffer, work is hidden as far as there
 * is room for it, and what a hit would have cost is not counted as a loss. With times at hand,
 * prefetches need no parts A, B and C, and MSHRs are taken when accesses begin. Fences and atomic
 * operations, at which no misses overlap, are known.
 *
 * Of a miss in a reorder buffer of 256, where hits take 10 cycles, memory 200 more, and four µops
 * are dispatched in a cycle: the µop 256 behind it enters when it leaves, after 210 cycles in place
 * of 64, and all that follows is 146 cycles late, however many other misses lie between. */
#pragma once

#include "model/hybrid.h"

struct sliding;
/* Of configurations with WINDOWS_SLIDING. NULL with an error: out of memory. */
struct sliding *sliding_new(const struct hybrid_config *configs, uint32_t count,
                            struct error *error);
void sliding_free(struct sliding *sliding);

/* The next events of a thread. */
void sliding_add(struct sliding *sliding, const struct data_event *events, uint32_t count);

/* As hybrid_break(). */
void sliding_break(struct sliding *sliding);

struct hybrid_result sliding_result(const struct sliding *sliding, uint32_t number);
