/* Lloyd's algorithm with Hamerly's bounds ("Making k-means even faster", SDM 2010): a slice whose
 * distance to its centroid is surely below that to any other is not looked at; after a few passes
 * that is nearly all of them. The others are compared with eight centroids at once, which stand
 * column by column. The sums behind the centroids change only by the slices that move.
 *
 * Distances are floats. A bound is widened by more than rounding can be off (SLACK), so that the
 * labels are those of the plain algorithm. */
#include "region/kmeans.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "region/lanes.h"
#include "region/random.h"

enum { CANDIDATES = 3 }; /* of which k-means++ takes the best */

#define SLACK    0x1p-14f /* a distance is the root of a sum of up to 1024 squares */
#define FAR_AWAY 1e17f    /* a centroid that is none; its squared distance is still a float */

#define MOST(a, b)  ((a) > (b) ? (a) : (b))
#define LEAST(a, b) ((a) < (b) ? (a) : (b))

bool kmeans_init(struct kmeans *kmeans, const struct projection *slices, uint32_t max_clusters,
                 struct error *error) {
    size_t n = slices->count, stride = slices->stride;
    size_t padded = (max_clusters + PROJECTION_LANES - 1) / PROJECTION_LANES * PROJECTION_LANES;
    *kmeans = (struct kmeans){
        .slices = slices, .max_clusters = max_clusters, .max_passes = KMEANS_MAX_PASSES};
    kmeans->weights = malloc(n * sizeof *kmeans->weights);
    kmeans->columns = malloc(padded * stride * sizeof *kmeans->columns);
    kmeans->upper = malloc(n * sizeof *kmeans->upper);
    kmeans->lower = malloc(n * sizeof *kmeans->lower);
    kmeans->half_gaps = malloc(padded * sizeof *kmeans->half_gaps);
    kmeans->drifts = malloc(padded * sizeof *kmeans->drifts);
    kmeans->sums = malloc(padded * stride * sizeof *kmeans->sums);
    kmeans->labels = malloc(n * sizeof *kmeans->labels);
    kmeans->shares = malloc(padded * sizeof *kmeans->shares);
    kmeans->members = malloc(padded * sizeof *kmeans->members);
    if (!kmeans->weights || !kmeans->columns || !kmeans->upper || !kmeans->lower ||
        !kmeans->half_gaps || !kmeans->drifts || !kmeans->sums || !kmeans->labels ||
        !kmeans->shares || !kmeans->members) {
        kmeans_free(kmeans);
        return error_set(error, "out of memory for clusters of %zu slices", n);
    }
    double total = 0;
    for (size_t i = 0; i < n; i++)
        total += (double)slices->instructions[i];
    for (size_t i = 0; i < n; i++)
        kmeans->weights[i] = (double)slices->instructions[i] * ((double)n / total);
    return true;
}

void kmeans_free(struct kmeans *kmeans) {
    free(kmeans->weights);
    free(kmeans->columns);
    free(kmeans->upper);
    free(kmeans->lower);
    free(kmeans->half_gaps);
    free(kmeans->drifts);
    free(kmeans->sums);
    free(kmeans->labels);
    free(kmeans->shares);
    free(kmeans->members);
    *kmeans = (struct kmeans){0};
}

/* ---- distances ---- */

static inline __attribute__((always_inline)) float distance2(const float *a, const float *b,
                                                             uint32_t stride) {
    lanes sum = {0};
    for (uint32_t i = 0; i < stride; i += PROJECTION_LANES) {
        lanes difference = *(const lanes *)(a + i) - *(const lanes *)(b + i);
        sum += difference * difference;
    }
    return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
}

float kmeans_distance2(const struct kmeans *kmeans, size_t slice, const float *centroids,
                       uint32_t cluster) {
    uint32_t stride = kmeans->slices->stride;
    return distance2(kmeans->slices->coordinates + slice * stride, centroids + cluster * stride,
                     stride);
}

static inline __attribute__((always_inline)) float least_of(const float *of_lane) {
    float least[4];
    for (int i = 0; i < 4; i++)
        least[i] = LEAST(of_lane[i], of_lane[i + 4]);
    float even = LEAST(least[0], least[2]), odd = LEAST(least[1], least[3]);
    return LEAST(even, odd);
}

/* The nearest centroid, of those as near the first; the squared distances to it and to the nearest
 * other. */
static inline __attribute__((always_inline)) uint32_t
nearest_two(const float *point, const float *columns, uint32_t count, uint32_t dimensions,
            float *nearest, float *other) {
    lanes best, second;
    int_lanes where = {0};
    for (uint32_t lane = 0; lane < PROJECTION_LANES; lane++)
        best[lane] = second[lane] = FLT_MAX;
    uint32_t blocks = (count + PROJECTION_LANES - 1) / PROJECTION_LANES;
    for (uint32_t block = 0; block < blocks; block++) {
        lanes sum = {0};
#pragma GCC unroll 5
        for (uint32_t i = 0; i < dimensions; i++, columns += PROJECTION_LANES) {
            lanes difference = point[i] - *(const lanes *)columns;
            sum += difference * difference;
        }
        int_lanes nearer = sum < best;
        int_lanes worse = ((int_lanes)best & nearer) | ((int_lanes)sum & ~nearer);
        int_lanes between = (lanes)worse < second;
        second = (lanes)((worse & between) | ((int_lanes)second & ~between));
        best = (lanes)(((int_lanes)sum & nearer) | ((int_lanes)best & ~nearer));
        where = ((int32_t)block & nearer) | (where & ~nearer);
    }
    float of_lane[PROJECTION_LANES], least;
    *(lanes *)of_lane = best;
    *nearest = least = least_of(of_lane);
    uint32_t found = UINT32_MAX;
    for (uint32_t lane = 0; lane < PROJECTION_LANES; lane++) {
        uint32_t cluster = (uint32_t)where[lane] * PROJECTION_LANES + lane;
        found = of_lane[lane] == least && cluster < found ? cluster : found;
    }
    of_lane[found % PROJECTION_LANES] = second[found % PROJECTION_LANES];
    *other = least_of(of_lane);
    return found;
}

static void set_columns(struct kmeans *kmeans, uint32_t count, const float *centroids) {
    uint32_t stride = kmeans->slices->stride, dimensions = kmeans->slices->dimensions;
    float *to = kmeans->columns;
    for (uint32_t first = 0; first < count; first += PROJECTION_LANES)
        for (uint32_t i = 0; i < dimensions; i++)
            for (uint32_t cluster = first; cluster < first + PROJECTION_LANES; cluster++)
                *to++ = cluster < count ? centroids[cluster * stride + i] : FAR_AWAY;
}

/* ---- seeding ---- */

/* The sum of chances were there also this centroid. */
MULTIVERSION
static double chances_with(const struct kmeans *kmeans, const float *centroid) {
    const struct projection *slices = kmeans->slices;
    double sum = 0;
    for (size_t i = 0; i < slices->count; i++) {
        float d = distance2(slices->coordinates + i * slices->stride, centroid, slices->stride);
        sum += kmeans->weights[i] * LEAST(d, kmeans->upper[i]);
    }
    return sum;
}

/* upper[i] is the squared distance to the nearest centroid: now there is one more. */
MULTIVERSION
static void add_centroid(struct kmeans *kmeans, const float *centroid) {
    const struct projection *slices = kmeans->slices;
    for (size_t i = 0; i < slices->count; i++) {
        float d = distance2(slices->coordinates + i * slices->stride, centroid, slices->stride);
        kmeans->upper[i] = LEAST(d, kmeans->upper[i]);
    }
}

/* A slice, by chance; the last that has any when rounding leads past the end. */
static size_t draw(const struct kmeans *kmeans, double at, bool first) {
    size_t chosen = 0;
    for (size_t i = 0; i < kmeans->slices->count && at >= 0; i++) {
        double chance = kmeans->weights[i] * (first ? 1 : kmeans->upper[i]);
        if (chance > 0)
            chosen = i;
        at -= chance;
    }
    return chosen;
}

uint32_t kmeans_seed(struct kmeans *kmeans, uint64_t seed, uint32_t count, float *centroids) {
    const struct projection *slices = kmeans->slices;
    for (size_t i = 0; i < slices->count; i++)
        kmeans->upper[i] = FLT_MAX;
    double sum = (double)slices->count; /* the first is drawn by weight alone */
    uint32_t drawn = 0;
    while (drawn < count && sum > 0) {
        const float *best = slices->coordinates;
        double least = INFINITY;
        for (int candidate = 0; candidate < (drawn ? CANDIDATES : 1); candidate++) {
            size_t slice = draw(kmeans, random_fraction(&seed) * sum, drawn == 0);
            const float *centroid = slices->coordinates + slice * slices->stride;
            double left = chances_with(kmeans, centroid);
            if (left < least) {
                least = left;
                best = centroid;
            }
        }
        sum = least;
        add_centroid(kmeans, best);
        memcpy(centroids + (size_t)drawn++ * slices->stride, best, slices->stride * sizeof *best);
    }
    return drawn;
}

/* ---- passes ---- */

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

/* Every slice to its nearest centroid. */
MULTIVERSION
static void first_pass(struct kmeans *kmeans, uint32_t count) {
    const struct projection *slices = kmeans->slices;
    for (size_t i = 0; i < slices->count; i++) {
        float nearest, other;
        uint32_t label = nearest_two(slices->coordinates + i * slices->stride, kmeans->columns,
                                     count, slices->dimensions, &nearest, &other);
        kmeans->labels[i] = label;
        kmeans->upper[i] = sqrtf(nearest) * (1 + SLACK);
        kmeans->lower[i] = sqrtf(other) * (1 - SLACK);
        add_slice(kmeans, i, label);
    }
}

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
        kmeans->drifts[cluster] = (float)sqrt(moved2) * (1 + SLACK);
    }
}

static void measure_gaps(struct kmeans *kmeans, uint32_t count, const float *centroids) {
    uint32_t stride = kmeans->slices->stride;
    for (uint32_t a = 0; a < count; a++)
        kmeans->half_gaps[a] = FLT_MAX;
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = a + 1; b < count; b++) {
            float d =
                distance2(centroids + (size_t)a * stride, centroids + (size_t)b * stride, stride);
            kmeans->half_gaps[a] = LEAST(kmeans->half_gaps[a], d);
            kmeans->half_gaps[b] = LEAST(kmeans->half_gaps[b], d);
        }
    for (uint32_t a = 0; a < count; a++)
        kmeans->half_gaps[a] = sqrtf(kmeans->half_gaps[a]) * (0.5f - SLACK);
}

/* The cluster that moved farthest, and how far the others moved at most. */
static uint32_t farthest(const struct kmeans *kmeans, uint32_t count, float *others) {
    uint32_t first = 0;
    for (uint32_t i = 1; i < count; i++)
        if (kmeans->drifts[i] > kmeans->drifts[first])
            first = i;
    *others = 0;
    for (uint32_t i = 0; i < count; i++)
        if (i != first)
            *others = MOST(*others, kmeans->drifts[i]);
    return first;
}

/* Each slice to its nearest centroid, if the bounds do not tell that it stays. How many moved. */
MULTIVERSION
static size_t next_pass(struct kmeans *kmeans, uint32_t count, const float *centroids) {
    const struct projection *slices = kmeans->slices;
    uint32_t stride = slices->stride;
    float drift_of_others;
    uint32_t far = farthest(kmeans, count, &drift_of_others);
    float drift_of_far = kmeans->drifts[far];
    size_t moved = 0;
    for (size_t i = 0; i < slices->count; i++) {
        uint32_t label = kmeans->labels[i];
        float upper = (kmeans->upper[i] + kmeans->drifts[label]) * (1 + FLT_EPSILON);
        float lower = (kmeans->lower[i] - (label == far ? drift_of_others : drift_of_far)) *
                      (1 - FLT_EPSILON);
        kmeans->upper[i] = upper;
        kmeans->lower[i] = lower;
        float bound = MOST(lower, kmeans->half_gaps[label]);
        if (upper < bound)
            continue;
        const float *point = slices->coordinates + i * stride;
        upper = sqrtf(distance2(point, centroids + (size_t)label * stride, stride)) * (1 + SLACK);
        kmeans->upper[i] = upper;
        if (upper < bound)
            continue;
        float nearest, other;
        uint32_t to =
            nearest_two(point, kmeans->columns, count, slices->dimensions, &nearest, &other);
        kmeans->upper[i] = sqrtf(nearest) * (1 + SLACK);
        kmeans->lower[i] = sqrtf(other) * (1 - SLACK);
        if (to == label)
            continue;
        remove_slice(kmeans, i, label);
        add_slice(kmeans, i, to);
        kmeans->labels[i] = to;
        moved++;
    }
    return moved;
}

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

void kmeans_run(struct kmeans *kmeans, uint32_t count, float *centroids) {
    memset(kmeans->sums, 0, (size_t)count * kmeans->slices->stride * sizeof *kmeans->sums);
    memset(kmeans->shares, 0, count * sizeof *kmeans->shares);
    memset(kmeans->members, 0, count * sizeof *kmeans->members);
    set_columns(kmeans, count, centroids);
    first_pass(kmeans, count);
    kmeans->passes = 1;
    kmeans->converged = false;
    while (!kmeans->converged && kmeans->passes < kmeans->max_passes) {
        move_centroids(kmeans, count, centroids);
        measure_gaps(kmeans, count, centroids);
        set_columns(kmeans, count, centroids);
        kmeans->converged = next_pass(kmeans, count, centroids) == 0;
        kmeans->passes++;
    }
    sum_up(kmeans, count, centroids);
}
