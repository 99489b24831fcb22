/* Clusterings of the same slices, for any number of clusters: k-means is run from several
 * beginnings, and the best by BIC is kept. Each clustering is made when it is first asked for, and
 * does not depend on which others were.
 *
 * In turn a run begins by k-means++, by merging (ward.h), furthest first, by merging. With three
 * runs or more the last begins from what the others found, merged; these then have two fifths of
 * the iterations, and only the best of them has the rest. With few slices, swaps are tried to
 * improve the best (swap.h). */
#pragma once

#include "region/points.h"
#include "region/ward.h"

struct trial {
    double score;     /* BIC */
    float *centroids; /* [clusters][stride]; NULL: not tried */
};

struct trials {
    const struct projection *slices;
    const struct region_settings *settings;
    uint32_t most; /* clusters: max_clusters of the settings, or as many different slices as there
                      are */
    struct trial *tried; /* by the number of clusters, 1 to most */
    struct kmeans kmeans;
    float *seeded;      /* [seeds][max_clusters][stride] */
    struct ward *wards; /* [seeds], of those that begin so */
    float *begin;       /* of one run */
};

/* Slices and settings are the caller's, unchanged meanwhile. Fails without slices, out of memory;
 * trials_free() either way. */
bool trials_init(struct trials *trials, const struct projection *slices,
                 const struct region_settings *settings, struct error *error);
void trials_free(struct trials *trials);

/* For so many clusters, 1 to `most`; NULL: out of memory. */
const struct trial *trials_try(struct trials *trials, uint32_t clusters, struct error *error);

/* The search of region_choose(), with up to max_clusters; sets tried[] and chosen of *choice. */
bool trials_search(struct trials *trials, uint32_t max_clusters, double threshold,
                   struct region_choice *choice, struct error *error);

/* Points, labels and distortion of *choice for so many clusters. */
bool trials_take(struct trials *trials, uint32_t clusters, struct region_choice *choice,
                 struct error *error);
