/* Centroids to begin k-means with, from the bottom up: some of the slices are put into many small
 * clusters, and those two are merged, again and again, that raise the distortion least (Ward 1963).
 * Where slices are no separate clouds this begins better than any drawing of slices; small clouds
 * may be missed. */
#pragma once

#include "region/kmeans.h"

enum {
    WARD_SLICES = 4096,      /* at most: drawn when there are more */
    WARD_SMALL = 256,        /* clusters that merging begins with, or as many as there are */
    WARD_MOST_CLUSTERS = 128 /* that are to be had of it */
};

struct ward {
    uint32_t count, stride; /* small clusters */
    double *sums;           /* [count][stride]: of coordinates times weight */
    double *weights;
    struct {
        uint32_t into, from;
    } merges[WARD_SMALL]; /* count − 1 of them, in order: the second ceases to be */
};

/* From slices; ward_free() either way. */
bool ward_init(struct ward *ward, const struct projection *slices, uint64_t seed,
               struct error *error);

/* From clusters of one's own, at most WARD_SMALL: begin, add, end; likewise. */
bool ward_begin(struct ward *ward, uint32_t stride, struct error *error);
void ward_add(struct ward *ward, const float *centroid, double weight);
bool ward_end(struct ward *ward, struct error *error);
void ward_free(struct ward *ward);

/* Centroids after all merges but clusters − 1, 1 ≤ clusters ≤ count: [clusters][stride]. */
bool ward_centroids(const struct ward *ward, uint32_t clusters, float *centroids,
                    struct error *error);
