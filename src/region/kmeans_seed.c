/* Greedy k-means++, and furthest first. While centroids are drawn, upper[] holds the squared
 * distance of each slice to the nearest one so far. */
#include <float.h>
#include <math.h>

#include "region/distance.h"
#include "region/kmeans.h"
#include "util/random.h"

enum { CANDIDATES = 3 }; /* of which the best is taken */

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

uint32_t kmeans_seed_furthest(struct kmeans *kmeans, uint64_t seed, uint32_t count,
                              float *centroids) {
    const struct projection *slices = kmeans->slices;
    size_t next = (size_t)(random_fraction(&seed) * (double)slices->count);
    for (size_t i = 0; i < slices->count; i++)
        kmeans->upper[i] = FLT_MAX;
    uint32_t drawn = 0;
    while (drawn < count && kmeans->upper[next] > 0) {
        const float *centroid = slices->coordinates + next * slices->stride;
        add_centroid(kmeans, centroid);
        memcpy(centroids + (size_t)drawn++ * slices->stride, centroid,
               slices->stride * sizeof *centroid);
        for (size_t i = 0; i < slices->count; i++)
            next = kmeans->upper[i] > kmeans->upper[next] ? i : next;
    }
    return drawn;
}
