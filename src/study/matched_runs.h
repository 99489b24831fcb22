/* Two profiled runs, measured on the same stretches of work.
 *
 *     profiles of both ──► markers that survive (region/work_markers.h)
 *     slices of the first ──► regions ──► bounds, found in both (region/work_bounds.h)
 *     both simulated by these regions, each with the weight that it has in the first run
 *         ──► the difference, from pairs (simulate/paired.h)
 *
 * Regions whose bounds are not found in both, or are not in their order there, are left out: those
 * most like them stand for what they did. */
#pragma once

#include "simulate/paired.h"
#include "study/profiled_run.h"
#include "study/second_run.h"

struct matched_runs {
    /* Set before. */
    struct watch *watch;
    const struct profiled_run *runs[2];
    const struct machine *machine;
    uint32_t ideal;
    uint32_t regions; /* as many, or all slices there are */

    char why_not[256];    /* the runs cannot be matched, for this reason; empty: they were */
    size_t markers;       /* that survive */
    uint32_t count, lost; /* regions that were simulated, and chosen but not found */
    struct second_run_result seconds[2];
    struct simulation simulations[2];
    const struct code *codes[2]; /* live as long as this */
    struct paired_difference difference;
};

/* matched_runs_free() either way. True with `why_not`: nothing else is set. */
bool matched_runs_go(struct matched_runs *matched, struct error *error);
void matched_runs_free(struct matched_runs *matched);
