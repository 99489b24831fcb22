/* Representative slices of a run and their weights: SimPoint's choice (Sherwood et al. 2002;
 * Hamerly et al. 2005; PinPoints §2.1; paper C §6.1). */
#pragma once

#include "region/kmeans.h"

enum { REGION_MAX_TRIED = 16 };

struct region_settings {
    uint32_t max_clusters; /* 1 to KMEANS_MAX_CLUSTERS; 30 */
    uint32_t seeds;        /* how often k-means begins anew for each k, 1 to 1000; 5: trials.h */
    uint64_t seed;         /* of the first; the others are derived from it */
    uint32_t iterations;   /* of k-means at most, 1 to KMEANS_MAX_PASSES; SimPoint 3.2's 100 */
    double threshold;      /* 0 to 1; 0.9: see region_choose() */
    double early;          /* at least 0; 0: see region_choose() */
};
#define REGION_DEFAULTS                                                                            \
    ((struct region_settings){                                                                     \
        .max_clusters = 30, .seeds = 5, .seed = 1, .iterations = 100, .threshold = 0.9})

struct region_point {
    uint32_t slice;   /* from 0 */
    uint32_t cluster; /* that it stands for, from 0 */
    double weight;    /* of the cluster in all instructions, over 0; of all points together 1 */
    uint32_t whole;   /* the cluster that this one is a part of, when it was split (split.h); else
                         itself */
};

struct region_choice {
    struct region_point *points; /* by cluster; clusters are in order of their first slice */
    uint32_t point_count;
    uint32_t *labels; /* the cluster of each slice */
    size_t slice_count;
    struct {
        uint32_t clusters;
        double score;          /* BIC, of the best seed */
    } tried[REGION_MAX_TRIED]; /* in the order of the search */
    uint32_t tried_count;
    uint32_t chosen;   /* index in tried[] */
    double distortion; /* of the clustering chosen; see kmeans.h */
};

/* Tries numbers of clusters by binary search from 1 to max_clusters (not more than there are
 * different slices) as SimPoint 3.2 does, and takes the smallest tried whose score is at least
 * threshold × (highest − lowest) + lowest. A cluster's point is the slice nearest to its centroid;
 * with `early` the earliest that is farther by at most `early` times the root mean square distance
 * in the cluster. Fails without slices, out of memory. The same on every machine. */
bool region_choose(const struct projection *slices, const struct region_settings *settings,
                   struct region_choice *choice, struct error *error);
void region_choice_free(struct region_choice *choice);

/* ---- files of SimPoint 3.2: "slice cluster" and "weight cluster" on each line ---- */

bool region_points_write(const struct region_point *points, uint32_t count,
                         const char *simpoints_path, const char *weights_path, struct error *error);
/* Sets *points, which the caller frees, and *count, at least 1, by cluster. Fails, naming file and
 * line, unless both name the same clusters, each once, and the weights are at least 0 and sum to 1
 * within 1 %. */
bool region_points_read(struct region_point **points, uint32_t *count, const char *simpoints_path,
                        const char *weights_path, struct error *error);
