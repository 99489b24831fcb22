/* k-means as it is written in books: the explanation of kmeans.c, and the reference that tests hold
 * it to. */
#pragma once

#include "region/projection.h"

/* From `count` centroids ([count][stride] floats) to those where no slice moves, or of max_passes
 * over the slices. Leaves the cluster of each slice in `labels`, and returns the passes; 0: out of
 * memory. Of two centroids equally near the first counts. A cluster that runs empty keeps its
 * centroid. */
uint32_t lloyd(const struct projection *slices, uint32_t count, uint32_t max_passes,
               float *centroids, uint32_t *labels, struct error *error);
