/* Distances of slices from the centroids of their clusters before projection, where vectors have an
 * element for each basic block. The projection keeps distances only nearly, and a slice that it
 * puts near the centroid need not be near it. */
#pragma once

#include "region/points.h"
#include "region/profiled_runs.h"

/* Squared Euclidean distances of the slices' vectors, divided by their sums, from the means of
 * their clusters, weighted by instructions; into distances2[slice]. `choice` has labels. Reads the
 * files of the runs twice more, slice by slice; memory grows with the different blocks of each
 * cluster, not with the slices. Fails on a file that is not what it was, as of a pipe, which can be
 * read once only. */
bool full_space_distances(const struct profiled_runs *runs, const struct region_choice *choice,
                          double *distances2, struct error *error);
