/* Better clusterings by swaps: Lloyd's algorithm ends where no slice moves, often with one cloud
 * shared by two centroids and two clouds by one. So two near clusters are made one, and the
 * centroid that this frees goes where slices are far from theirs; the outcome is kept when its
 * distortion is lower. */
#pragma once

#include "region/kmeans.h"

/* `centroids` are the outcome of kmeans_run(); at the end they are so again, with labels, shares
 * and distortion of what is best. Each of the `attempts` passes over the slices up to forty times.
 * `scratch` is as large as `centroids`. False: out of memory, nothing is lost. */
bool swap_clusters(struct kmeans *kmeans, uint32_t count, uint32_t attempts, float *centroids,
                   float *scratch, struct error *error);
