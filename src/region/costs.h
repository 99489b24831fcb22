/* What each slice of a run took, as a full simulation recorded it (culprit sim --slices): cycles,
 * and whatever else was counted. Comma-separated values, a line for each slice in any order:
 *
 *     process,thread,first,instructions,cycles,NAME,...
 *     0,0,0,10000003,5210044,120944,...
 */
#pragma once

#include "region/profiled_runs.h"

enum { COSTS_CYCLES /* the first column of values */ };

struct region_costs {
    char **names; /* of the columns */
    uint32_t column_count;
    double *values; /* [slice][column], of all slices of the runs */
    size_t slice_count;
};

/* All zero: none. Reads the costs of the slices of one run; of merged slices the sums. Fails with
 * file and line on anything not as above, on lines that are of no slice, unless every slice has
 * costs of as many instructions, and when the columns are not those of the run before.
 * region_costs_free() either way. */
bool region_costs_add(struct region_costs *costs, const struct profiled_runs *runs, uint32_t run,
                      const char *path, struct error *error);
void region_costs_free(struct region_costs *costs);

/* Cycles per instruction of a slice, and of all. */
double region_costs_cpi(const struct region_costs *costs, const struct projection *slices,
                        size_t slice);
double region_costs_total_cpi(const struct region_costs *costs, const struct projection *slices);
