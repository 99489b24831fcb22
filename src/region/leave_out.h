/* Regions of a choice that could not be captured, since the run went another way and they were not
 * found in it. Others take over what they stood for. */
#pragma once

#include "region/points.h"

struct region_loss {
    uint64_t instructions; /* of the slices that the lost points stood for */
    uint64_t alone;        /* those of them in clusters without any point left */
    uint32_t points;       /* lost */
};

/* What is lost when the points with lost[point] are. `clusters`: of each slice, before
 * region_split(); lost[]: by point. */
struct region_loss region_loss_of(const struct projection *slices,
                                  const struct region_choice *choice, const uint32_t *clusters,
                                  const bool *lost);

/* Gives each slice of a lost point to another point: to the nearest in time in its cluster, where
 * vectors are alike; if none is left there, to the one whose slice has the nearest vector. Labels
 * change, and weights: those of lost points become 0. At least one point must be left. */
void region_leave_out(const struct projection *slices, const uint32_t *clusters, const bool *lost,
                      struct region_choice *choice);
