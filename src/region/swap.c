/* Which two are merged is what costs least (Ward); what is split is the cluster with most
 * distortion, at its slice farthest from the centroid, then the one with second most, and so on. */
#include "region/swap.h"

#include <math.h>
#include <stdlib.h>

#include "util/order.h"
#include "util/random.h"

enum { PASSES = 40 };

struct cluster {
    double distortion;
    float farthest2;
    size_t farthest; /* slice */
    size_t drawn;    /* likewise, by chance in proportion to weight times squared distance */
    uint32_t number;
};

ORDER(by_distortion, struct cluster,
      descending(a->distortion, b->distortion) ?: ascending(a->number, b->number))

/* The clusters as they are, those of most distortion first. */
static void measure(const struct kmeans *kmeans, uint32_t count, const float *centroids,
                    struct cluster *clusters) {
    for (uint32_t i = 0; i < count; i++)
        clusters[i] = (struct cluster){.number = i};
    uint64_t seed = 1;
    for (size_t i = 0; i < kmeans->slices->count; i++) {
        struct cluster *cluster = &clusters[kmeans->labels[i]];
        float square = kmeans_distance2(kmeans, i, centroids, cluster->number);
        double part = kmeans->weights[i] * square;
        cluster->distortion += part;
        if (random_fraction(&seed) * cluster->distortion < part)
            cluster->drawn = i;
        if (square > cluster->farthest2) {
            cluster->farthest2 = square;
            cluster->farthest = i;
        }
    }
    qsort(clusters, count, sizeof *clusters, by_distortion);
}

static double merge_cost(const struct kmeans *kmeans, const float *centroids, uint32_t a,
                         uint32_t b) {
    uint32_t stride = kmeans->slices->stride;
    double square = 0, x = kmeans->shares[a], y = kmeans->shares[b];
    for (uint32_t d = 0; d < stride; d++) {
        double difference = (double)centroids[a * stride + d] - centroids[b * stride + d];
        square += difference * difference;
    }
    return x + y > 0 ? square * x * y / (x + y) : 0;
}

/* Merges two of the others and splits this one at one of its slices. */
static void swap(const struct kmeans *kmeans, uint32_t count, const struct cluster *split,
                 size_t slice, float *centroids) {
    uint32_t stride = kmeans->slices->stride, into = 0, from = 0;
    double least = INFINITY;
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = a + 1; b < count; b++)
            if (a != split->number && b != split->number) {
                double cost = merge_cost(kmeans, centroids, a, b);
                if (cost < least) {
                    least = cost;
                    into = a;
                    from = b;
                }
            }
    double x = kmeans->shares[into], y = kmeans->shares[from];
    for (uint32_t d = 0; d < stride && x + y > 0; d++)
        centroids[into * stride + d] =
            (float)((x * centroids[into * stride + d] + y * centroids[from * stride + d]) /
                    (x + y));
    memcpy(centroids + (size_t)from * stride, kmeans->slices->coordinates + slice * stride,
           stride * sizeof *centroids);
}

bool swap_clusters(struct kmeans *kmeans, uint32_t count, uint32_t attempts, float *centroids,
                   float *scratch, struct error *error) {
    size_t bytes = (size_t)count * kmeans->slices->stride * sizeof *centroids;
    uint32_t max_passes = kmeans->max_passes;
    struct cluster *clusters = calloc(count, sizeof *clusters);
    if (!clusters)
        return error_set(error, "out of memory for %u clusters", count);
    kmeans->max_passes = 1;
    kmeans_run(kmeans, count, centroids);
    double best = kmeans->distortion;
    measure(kmeans, count, centroids, clusters);
    for (uint32_t i = 0, next = 0; i < attempts && next < 2 * count && count > 2; i++, next++) {
        const struct cluster *split = &clusters[next / 2];
        memcpy(scratch, centroids, bytes);
        swap(kmeans, count, split, next % 2 ? split->farthest : split->drawn, scratch);
        kmeans->max_passes = PASSES;
        kmeans_run(kmeans, count, scratch);
        bool better = kmeans->distortion < best;
        if (better) {
            best = kmeans->distortion;
            memcpy(centroids, scratch, bytes);
            measure(kmeans, count, centroids, clusters);
            next = UINT32_MAX; /* from the first on */
        } else {               /* shares and labels of what is best again */
            kmeans->max_passes = 1;
            kmeans_run(kmeans, count, centroids);
        }
    }
    kmeans->max_passes = max_passes;
    kmeans_run(kmeans, count, centroids);
    free(clusters);
    return true;
}
