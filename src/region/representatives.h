/* Which slice of each cluster stands for it: the one nearest to the centroid, however distances
 * were measured (PinPoints §2.1; in SimPoint and paper C §6.1 they are those of the projected
 * points). */
#pragma once

#include "region/points.h"

/* Sets the slice of each of the points of *choice, which has labels. `distances2`: squared, of each
 * slice from the centroid of its cluster. Slices shorter than half the longest of their cluster do
 * not stand for it: the rest of a run behind its last whole slice is not like longer slices. With
 * `early` over 0 it is the earliest slice that is farther than the nearest by at most `early` times
 * the root mean square distance in the cluster; of those as near, always the earliest. False: out
 * of memory. */
bool representatives_take(const struct projection *slices, const double *distances2, double early,
                          struct region_choice *choice);
