/* k-means: slices into k clusters, so that the sum of squared distances to the centroids of their
 * clusters, weighted by instructions, is as low as moving one slice at a time to the nearest
 * centroid gets it (Lloyd's algorithm, run to convergence). */
#pragma once

#include "region/projection.h"

enum { KMEANS_MAX_CLUSTERS = 4096, KMEANS_MAX_PASSES = 10000 /* as good as none */ };

struct kmeans_centroid {
    double moved;            /* how far, last */
    double travelled;        /* the sum of that, since the run began */
    double others_travelled; /* the sum of how far another one moved at most */
    float half_gap;          /* half the distance to the nearest other, at least */
};

/* What clustering a projection needs besides it; made once, used for any number of runs. */
struct kmeans {
    const struct projection *slices; /* the caller's, unchanged meanwhile */
    uint32_t max_clusters;
    uint32_t max_passes; /* KMEANS_MAX_PASSES, unless changed: 1 to that */
    double *weights;     /* of the slices: instructions, so scaled that the mean is 1 */
    uint32_t *labels;    /* the cluster of each slice */
    double *shares;      /* of each cluster, in all weight; 0: it is empty */
    size_t *members;     /* slices of each cluster */
    double distortion;   /* sum of weight times squared distance to the slice's centroid */
    uint32_t passes;     /* over the slices */
    bool converged;      /* the last pass moved no slice */

    /* ---- of kmeans.c alone ---- */
    uint32_t lanes; /* slices that are searched for at once */
    float *points;  /* them: [dimension][lane] */
    double *sums;   /* of coordinates times weight: [k][stride] */
    float *upper;   /* of each slice: not less than the distance to its centroid, less what that
                       has travelled */
    float *margin;  /* not more than the distance to any other, with what others have travelled,
                       less upper */
    uint32_t *open; /* slices that may change their cluster */
    struct kmeans_centroid *centroids;
    float *near, *apart; /* of each cluster: a slice with upper below the first or margin above the
                            second stays */
};

/* Room for up to max_clusters ≤ KMEANS_MAX_CLUSTERS of at least one slice. */
bool kmeans_init(struct kmeans *kmeans, const struct projection *slices, uint32_t max_clusters,
                 struct error *error);
void kmeans_free(struct kmeans *kmeans);

/* Centroids to begin with, by k-means++ (Arthur and Vassilvitskii 2007): slices, each drawn with a
 * chance in proportion to weight times squared distance from the nearest one already drawn; a few
 * are so drawn, and the one that lowers the distortion most is taken ("greedy"). The first n of
 * them are what would be drawn for n. Fills [count][stride] floats and returns how many: fewer than
 * `count` when there are no more different slices. */
uint32_t kmeans_seed(struct kmeans *kmeans, uint64_t seed, uint32_t count, float *centroids);

/* Likewise: a slice at random, then always the one furthest from the nearest already drawn
 * (Hochbaum and Shmoys 1985; one of SimPoint's two ways). */
uint32_t kmeans_seed_furthest(struct kmeans *kmeans, uint64_t seed, uint32_t count,
                              float *centroids);

/* From these centroids to those where no slice moves, or max_passes. Leaves there labels,
 * shares, distortion, passes, converged. A cluster that runs empty keeps its centroid. */
void kmeans_run(struct kmeans *kmeans, uint32_t count, float *centroids);

/* Squared distance of a slice from centroid `cluster`. */
float kmeans_distance2(const struct kmeans *kmeans, size_t slice, const float *centroids,
                       uint32_t cluster);
