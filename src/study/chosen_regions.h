/* Which slices of a profiled run are simulated in place of it. */
#pragma once

#include "region/points.h"

/* So many regions, or all slices there are: clusters, of which each has several regions where there
 * are enough of them, so that what its slices differ by is known (region/split.h). The points are
 * sorted by slice. `clusters`: of each slice, before they were split; the caller's (free), as
 * region_choice_free() is, either way. */
bool chosen_regions_find(const struct projection *slices, uint32_t regions,
                         struct region_choice *choice, uint32_t **clusters, struct error *error);
