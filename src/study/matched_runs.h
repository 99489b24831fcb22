/* Two profiled runs, measured on the same stretches of work.
 *
 *     profiles of both ──► markers that survive (region/work_markers.h)
 *     slices of the first ──► bounds, found in both (region/work_bounds.h) ──► regions
 *     both simulated by these regions, each standing for the same stretches of both
 *         ──► the difference, from pairs (simulate/paired.h)
 *
 * Where a bound is not found in both, or not in its order, the slices on both sides of it are one.
 */
#pragma once

#include "simulate/paired.h"
#include "study/profiled_run.h"
#include "study/second_run.h"
#include "study/trace_starts.h"

struct matched_runs {
    /* Set before. */
    struct watch *watch;
    const struct profiled_run *runs[2];
    const struct machine *machine;
    uint32_t ideal;
    const struct path_extents *extents[2]; /* of each run; NULL: call paths are not asked for */
    uint32_t regions;                      /* as many, or all slices there are */

    char why_not[256]; /* the runs cannot be matched, for this reason; empty: they were */
    size_t markers;    /* that survive */
    uint32_t count;    /* regions that were simulated */
    struct trace_starts starts[2]; /* of regions; empty: call paths are not asked for */
    struct second_run_result seconds[2];
    struct simulation simulations[2];
    const struct code *codes[2]; /* live as long as this */
    struct paired_difference difference;
};

/* matched_runs_free() either way. True with `why_not`: nothing else is set. */
bool matched_runs_go(struct matched_runs *matched, struct error *error);
void matched_runs_free(struct matched_runs *matched);
