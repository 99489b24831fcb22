/* Lloyd's algorithm with the bounds of Hamerly 2010: of each slice it is kept how far its own
 * centroid is at most and the nearest other at least, and as long as the first is less it stays
 * where it is. The others are compared with all centroids, many slices at once (nearest.h).
 *
 * A bound is worth less by what centroids have moved since. That is not subtracted from each bound
 * in each pass: bounds are stored as if measured before the first move, that is with all moves up
 * to now added, and are compared with all moves so far.
 *
 * Distances are floats. A bound is widened by more than rounding can be off (SLACK), so that the
 * labels are those of lloyd.c. The sums behind the centroids change only by the slices
 * that move. */
#include "region/kmeans.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "region/distance.h"
#include "region/nearest.h"
#include "region/open_slices.h"
#include "util/array.h"

#define SLACK 0x1p-14f /* a distance is the root of a sum of up to 1024 squares */

bool kmeans_init(struct kmeans *kmeans, const struct projection *slices, uint32_t max_clusters,
                 struct error *error) {
    size_t n = slices->count, stride = slices->stride;
    *kmeans = (struct kmeans){
        .slices = slices, .max_clusters = max_clusters, .max_passes = KMEANS_MAX_PASSES};
    kmeans->lanes = nearest_lanes();
    kmeans->points = malloc(stride * NEAREST_MAX_LANES * sizeof *kmeans->points);
    kmeans->weights = malloc(n * sizeof *kmeans->weights);
    kmeans->upper = malloc(n * sizeof *kmeans->upper);
    kmeans->margin = malloc(n * sizeof *kmeans->margin);
    kmeans->open = malloc(n * sizeof *kmeans->open);
    kmeans->centroids = malloc(max_clusters * sizeof *kmeans->centroids);
    kmeans->near = malloc(max_clusters * sizeof *kmeans->near);
    kmeans->apart = malloc(max_clusters * sizeof *kmeans->apart);
    kmeans->sums = malloc(max_clusters * stride * sizeof *kmeans->sums);
    kmeans->labels = malloc(n * sizeof *kmeans->labels);
    kmeans->shares = malloc(max_clusters * sizeof *kmeans->shares);
    kmeans->members = malloc(max_clusters * sizeof *kmeans->members);
    if (!kmeans->weights || !kmeans->points || !kmeans->upper || !kmeans->margin || !kmeans->open ||
        !kmeans->centroids || !kmeans->near || !kmeans->apart || !kmeans->sums || !kmeans->labels ||
        !kmeans->shares || !kmeans->members) {
        kmeans_free(kmeans);
        return error_set(error, "out of memory for clusters of %zu slices", n);
    }
    double total = sum_over(double, i, n, (double)slices->instructions[i]);
    for (size_t i = 0; i < n; i++)
        kmeans->weights[i] = (double)slices->instructions[i] * ((double)n / total);
    return true;
}

void kmeans_free(struct kmeans *kmeans) {
    free(kmeans->weights);
    free(kmeans->points);
    free(kmeans->upper);
    free(kmeans->margin);
    free(kmeans->open);
    free(kmeans->centroids);
    free(kmeans->near);
    free(kmeans->apart);
    free(kmeans->sums);
    free(kmeans->labels);
    free(kmeans->shares);
    free(kmeans->members);
    *kmeans = (struct kmeans){0};
}

float kmeans_distance2(const struct kmeans *kmeans, size_t slice, const float *centroids,
                       uint32_t cluster) {
    uint32_t stride = kmeans->slices->stride;
    return distance2(kmeans->slices->coordinates + slice * stride, centroids + cluster * stride,
                     stride);
}

/* ---- rounding ---- */

static inline float round_up(double value) {
    float near = (float)value;
    return near + fabsf(near) * FLT_EPSILON;
}

static inline float round_down(double value) {
    float near = (float)value;
    return near - fabsf(near) * FLT_EPSILON;
}

/* ---- the first pass ---- */

static void add_weight(struct kmeans *kmeans, size_t slice, uint32_t cluster, double weight) {
    uint32_t stride = kmeans->slices->stride;
    const float *point = kmeans->slices->coordinates + slice * stride;
    double *sum = kmeans->sums + (size_t)cluster * stride;
    for (uint32_t i = 0; i < stride; i++)
        sum[i] += weight * point[i];
    kmeans->shares[cluster] += weight;
}

static void add_slice(struct kmeans *kmeans, size_t slice, uint32_t cluster) {
    add_weight(kmeans, slice, cluster, kmeans->weights[slice]);
    kmeans->members[cluster]++;
}

static void remove_slice(struct kmeans *kmeans, size_t slice, uint32_t cluster) {
    add_weight(kmeans, slice, cluster, -kmeans->weights[slice]);
    if (--kmeans->members[cluster])
        return;
    uint32_t stride = kmeans->slices->stride; /* what rounding left */
    memset(kmeans->sums + (size_t)cluster * stride, 0, stride * sizeof *kmeans->sums);
    kmeans->shares[cluster] = 0;
}

static void set_bounds(struct kmeans *kmeans, size_t slice, uint32_t label, float upper,
                       double lower) {
    const struct kmeans_centroid *centroid = &kmeans->centroids[label];
    kmeans->upper[slice] = round_up(upper - centroid->travelled);
    kmeans->margin[slice] = round_down(lower + centroid->others_travelled - kmeans->upper[slice]);
}

/* The nearest centroids of some slices, at most kmeans->lanes; lanes over their number are those of
 * the last one. */
static void search(struct kmeans *kmeans, uint32_t count, const float *centroids,
                   const uint32_t *slices, size_t slice_count, struct nearest *found) {
    const struct projection *of = kmeans->slices;
    uint32_t lanes = kmeans->lanes;
    for (uint32_t lane = 0; lane < lanes; lane++) {
        size_t slice = slices[lane < slice_count ? lane : slice_count - 1];
        const float *point = of->coordinates + slice * of->stride;
        for (uint32_t i = 0; i < of->dimensions; i++)
            kmeans->points[i * lanes + lane] = point[i];
    }
    const struct nearest_query query = {.points = kmeans->points,
                                        .centroids = centroids,
                                        .count = count,
                                        .stride = of->stride,
                                        .dimensions = of->dimensions};
    nearest_search(&query, lanes, found);
}

/* Every slice to its nearest centroid. */
static void first_pass(struct kmeans *kmeans, uint32_t count, const float *centroids) {
    size_t n = kmeans->slices->count;
    for (size_t first = 0; first < n; first += kmeans->lanes) {
        struct nearest found;
        uint32_t slices[NEAREST_MAX_LANES];
        size_t some = LEAST(n - first, kmeans->lanes);
        for (size_t lane = 0; lane < some; lane++)
            slices[lane] = (uint32_t)(first + lane);
        search(kmeans, count, centroids, slices, some, &found);
        for (size_t lane = 0; lane < some; lane++) {
            uint32_t label = (uint32_t)found.labels[lane];
            kmeans->labels[first + lane] = label;
            set_bounds(kmeans, first + lane, label, sqrtf(found.nearest2[lane]) * (1 + SLACK),
                       sqrtf(found.other2[lane]) * (1 - SLACK));
            add_slice(kmeans, first + lane, label);
        }
    }
}

/* ---- between passes ---- */

/* The centroids of the clusters as they are now; how far each moved. */
static void move_centroids(struct kmeans *kmeans, uint32_t count, float *centroids) {
    uint32_t stride = kmeans->slices->stride;
    for (uint32_t cluster = 0; cluster < count; cluster++) {
        float *centroid = centroids + (size_t)cluster * stride;
        const double *sum = kmeans->sums + (size_t)cluster * stride;
        double weight = kmeans->shares[cluster], moved2 = 0;
        for (uint32_t i = 0; i < stride && kmeans->members[cluster]; i++) {
            float to = (float)(sum[i] / weight);
            double difference = (double)to - centroid[i];
            moved2 += difference * difference;
            centroid[i] = to;
        }
        kmeans->centroids[cluster].moved = sqrt(moved2) * (1 + FLT_EPSILON);
    }
}

/* What each centroid, and all but each centroid, have moved at most, from the start. */
static void add_moves(struct kmeans *kmeans, uint32_t count) {
    double most = 0, second = 0;
    for (uint32_t i = 0; i < count; i++) {
        double moved = kmeans->centroids[i].moved;
        second = MOST(second, LEAST(most, moved));
        most = MOST(most, moved);
    }
    for (uint32_t i = 0; i < count; i++) {
        struct kmeans_centroid *centroid = &kmeans->centroids[i];
        centroid->travelled += centroid->moved;
        centroid->others_travelled += centroid->moved == most ? second : most;
    }
}

/* Half the distance of each centroid to the nearest other, at least. */
static void measure_gaps(struct kmeans *kmeans, uint32_t count, const float *centroids) {
    uint32_t stride = kmeans->slices->stride;
    struct kmeans_centroid *of = kmeans->centroids;
    for (uint32_t a = 0; a < count; a++)
        of[a].half_gap = FLT_MAX;
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = a + 1; b < count; b++) {
            float d =
                distance2(centroids + (size_t)a * stride, centroids + (size_t)b * stride, stride);
            of[a].half_gap = LEAST(of[a].half_gap, d);
            of[b].half_gap = LEAST(of[b].half_gap, d);
        }
    for (uint32_t a = 0; a < count; a++) {
        of[a].half_gap = sqrtf(of[a].half_gap) * (0.5f - SLACK);
        kmeans->near[a] = round_down(of[a].half_gap - of[a].travelled);
        kmeans->apart[a] = round_up(of[a].travelled + of[a].others_travelled);
    }
}

/* ---- later passes ---- */

/* The slices that the bounds leave open, into open[]. */
static size_t find_open(struct kmeans *kmeans) {
    const struct slice_bounds bounds = {.labels = kmeans->labels,
                                        .upper = kmeans->upper,
                                        .margin = kmeans->margin,
                                        .near = kmeans->near,
                                        .apart = kmeans->apart};
    return open_slices(&bounds, kmeans->slices->count, kmeans->open);
}

/* Those of them that also the distance to their centroid as it is now leaves open. */
MULTIVERSION
static size_t tighten(struct kmeans *kmeans, const float *centroids, size_t open) {
    const struct projection *slices = kmeans->slices;
    size_t count = 0;
    for (size_t at = 0; at < open; at++) {
        uint32_t i = kmeans->open[at], label = kmeans->labels[i];
        const struct kmeans_centroid *own = &kmeans->centroids[label];
        float own2 = distance2(slices->coordinates + (size_t)i * slices->stride,
                               centroids + (size_t)label * slices->stride, slices->stride);
        float upper = sqrtf(own2) * (1 + SLACK);
        double lower = (double)kmeans->margin[i] + kmeans->upper[i] - own->others_travelled;
        set_bounds(kmeans, i, label, upper, lower);
        kmeans->open[count] = i;
        count += !((upper < own->half_gap) | (upper < lower));
    }
    return count;
}

/* Each slice to its nearest centroid, if the bounds do not tell that it stays. How many moved. */
static size_t next_pass(struct kmeans *kmeans, uint32_t count, const float *centroids) {
    size_t moved = 0, open = tighten(kmeans, centroids, find_open(kmeans));
    for (size_t first = 0; first < open; first += kmeans->lanes) {
        struct nearest found;
        size_t some = LEAST(open - first, kmeans->lanes);
        search(kmeans, count, centroids, kmeans->open + first, some, &found);
        for (size_t lane = 0; lane < some; lane++) {
            uint32_t i = kmeans->open[first + lane], label = kmeans->labels[i];
            uint32_t to = (uint32_t)found.labels[lane];
            set_bounds(kmeans, i, to, sqrtf(found.nearest2[lane]) * (1 + SLACK),
                       sqrtf(found.other2[lane]) * (1 - SLACK));
            if (to == label)
                continue;
            remove_slice(kmeans, i, label);
            add_slice(kmeans, i, to);
            kmeans->labels[i] = to;
            moved++;
        }
    }
    return moved;
}

/* ---- a run ---- */

/* Shares and distortion anew from the labels, without what moving to and fro rounded. */
MULTIVERSION
static void sum_up(struct kmeans *kmeans, uint32_t count, const float *centroids) {
    const struct projection *slices = kmeans->slices;
    memset(kmeans->shares, 0, count * sizeof *kmeans->shares);
    kmeans->distortion = 0;
    for (size_t i = 0; i < slices->count; i++) {
        float d = distance2(slices->coordinates + i * slices->stride,
                            centroids + (size_t)kmeans->labels[i] * slices->stride, slices->stride);
        kmeans->distortion += kmeans->weights[i] * d;
        kmeans->shares[kmeans->labels[i]] += kmeans->weights[i];
    }
    for (uint32_t cluster = 0; cluster < count; cluster++)
        kmeans->shares[cluster] /= (double)slices->count;
}

static void begin(struct kmeans *kmeans, uint32_t count) {
    memset(kmeans->centroids, 0, count * sizeof *kmeans->centroids);
    memset(kmeans->sums, 0, (size_t)count * kmeans->slices->stride * sizeof *kmeans->sums);
    memset(kmeans->shares, 0, count * sizeof *kmeans->shares);
    memset(kmeans->members, 0, count * sizeof *kmeans->members);
    kmeans->passes = 1;
    kmeans->converged = false;
}

void kmeans_run(struct kmeans *kmeans, uint32_t count, float *centroids) {
    begin(kmeans, count);
    first_pass(kmeans, count, centroids);
    while (!kmeans->converged && kmeans->passes < kmeans->max_passes) {
        move_centroids(kmeans, count, centroids);
        add_moves(kmeans, count);
        measure_gaps(kmeans, count, centroids);
        kmeans->converged = next_pass(kmeans, count, centroids) == 0;
        kmeans->passes++;
    }
    sum_up(kmeans, count, centroids);
}
