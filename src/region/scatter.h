/* How unlike the slices of one cluster are: whether one region can stand for them. */
#pragma once

#include "region/points.h"

/* Above it a cluster's slices are far apart: half-way to those of two phases of equal length that
 * have no code in common, which have 0.5. */
#define SCATTER_FAR 0.25

/* By cluster of choice->labels (SELECT_SIMPOINT): the share of the mean squared length of its
 * slices that their mean has not, 1 − |mean|² / mean |slice|². 0: all are alike; 1 − 1/n: n phases
 * of equal length with no code in common. `count` numbers, which the caller frees; NULL: no labels,
 * or out of memory. */
double *region_scatter(const struct projection *slices, const struct region_choice *choice,
                       uint32_t *count);
