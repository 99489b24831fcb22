/* From basic block vectors to a list of regions: the whole way in one call, and its last step by
 * itself. */
#pragma once

#include "region/profiled_runs.h"
#include "region/regions.h"
#include "region/selection.h"

struct choose_settings {
    uint32_t dimensions;   /* 1 to PROJECTION_MAX_DIMENSIONS; 15 */
    uint32_t merge_slices; /* see profiled_runs_merge_slices(); 1 */
    struct selection_settings selection;
};
#define CHOOSE_DEFAULTS                                                                            \
    ((struct choose_settings){.dimensions = 15, .merge_slices = 1, .selection = SELECTION_DEFAULTS})

/* Chooses regions of the run whose vectors are in this file, with PATH.slices beside it.
 * region_list_free() either way. */
bool region_list_choose(struct region_list *list, const char *vectors,
                        const struct choose_settings *settings, struct error *error);

/* The points that lie in `run` as regions of it, by place. Of one run the weights sum to 1; where
 * several were merged, those of all runs together do: one run's regions say nothing of what the
 * points in other runs stand for in it (PinPoints §4.4). Fails when no point lies in the run.
 * region_list_free() either way. */
bool region_list_build(struct region_list *list, const struct profiled_runs *profile, uint32_t run,
                       const struct region_point *points, uint32_t count, const char *method,
                       struct error *error);
