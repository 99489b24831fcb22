/* Which slices the bounds of k-means leave open. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* By slice: its cluster and bounds; by cluster: what an upper bound is to be below, or a margin
 * above, for the slice to stay. */
struct slice_bounds {
    const uint32_t *labels;
    const float *upper, *margin;
    const float *near, *apart;
};

/* Writes the numbers of those of the first `count` slices that may move, in order, into
 * open[count]; returns how many. */
size_t open_slices(const struct slice_bounds *bounds, size_t count, uint32_t *open);
