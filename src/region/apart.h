/* The beginning of a run stands for itself. Caches and predictors are cold there, which vectors do
 * not show: slices of the beginning take several times as long as later ones that execute the same
 * code. */
#pragma once

#include "region/points.h"

/* Makes a cluster of its own of each of the first `count` slices; count < all slices. A cluster
 * that loses its point gets the nearest slice that is left to it. Clusters are then no longer in
 * order of their first slice. For region_split(), after region_choose(). */
bool region_set_apart(const struct projection *slices, uint32_t count, struct region_choice *choice,
                      struct error *error);
