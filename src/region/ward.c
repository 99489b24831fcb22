/* The nearest partner of each cluster is remembered, and looked for anew only when it was merged or
 * the cluster itself was. Of the merges only their order is kept: to have k clusters, all but the
 * last k − 1 are made again. */
#include "region/ward.h"

#include <math.h>
#include <stdlib.h>

#include "util/random.h"

enum { PASSES = 10 /* of k-means over the small clusters */ };

void ward_free(struct ward *ward) {
    free(ward->sums);
    free(ward->weights);
    *ward = (struct ward){0};
}

/* ---- small clusters ---- */

/* All slices, or WARD_SLICES of them, each as likely. */
static bool draw_slices(const struct projection *slices, uint64_t seed, struct projection *drawn,
                        struct error *error) {
    size_t n = slices->count, most = n < WARD_SLICES ? n : WARD_SLICES;
    uint32_t stride = slices->stride;
    projection_init(drawn, slices->dimensions, slices->seed);
    drawn->coordinates = calloc(most * stride, sizeof *drawn->coordinates);
    drawn->instructions = calloc(most, sizeof *drawn->instructions);
    if (!drawn->coordinates || !drawn->instructions)
        return error_set(error, "out of memory for %zu slices", most);
    for (size_t i = 0; i < n && drawn->count < most; i++)
        if ((double)(n - i) * random_fraction(&seed) < (double)(most - drawn->count)) {
            memcpy(drawn->coordinates + drawn->count * stride, slices->coordinates + i * stride,
                   stride * sizeof *drawn->coordinates);
            drawn->instructions[drawn->count++] = slices->instructions[i];
        }
    return true;
}

bool ward_begin(struct ward *ward, uint32_t stride, struct error *error) {
    *ward = (struct ward){.stride = stride};
    ward->sums = calloc((size_t)WARD_SMALL * stride, sizeof *ward->sums);
    ward->weights = calloc(WARD_SMALL, sizeof *ward->weights);
    return (ward->sums && ward->weights) ||
           error_set(error, "out of memory for %d clusters", WARD_SMALL);
}

void ward_add(struct ward *ward, const float *centroid, double weight) {
    for (uint32_t d = 0; d < ward->stride; d++)
        ward->sums[(size_t)ward->count * ward->stride + d] = weight * centroid[d];
    ward->weights[ward->count++] = weight;
}

/* What k-means makes of slices, without clusters that are empty. */
static bool make_clusters(struct ward *ward, const struct projection *slices, uint64_t seed,
                          struct error *error) {
    struct kmeans kmeans;
    uint32_t most = slices->count < WARD_SMALL ? (uint32_t)slices->count : WARD_SMALL;
    if (!kmeans_init(&kmeans, slices, most, error))
        return false;
    float *centroids = calloc((size_t)most * slices->stride, sizeof *centroids);
    bool good = centroids != NULL;
    if (!good)
        error_set(error, "out of memory for %u centroids", most);
    else {
        uint32_t count = kmeans_seed(&kmeans, seed, most, centroids);
        kmeans.max_passes = PASSES;
        kmeans_run(&kmeans, count, centroids);
        for (uint32_t i = 0; i < count; i++)
            if (kmeans.shares[i] > 0)
                ward_add(ward, centroids + (size_t)i * slices->stride, kmeans.shares[i]);
    }
    free(centroids);
    kmeans_free(&kmeans);
    return good;
}

/* ---- merging ---- */

struct partner {
    double cost; /* by how much the distortion rises when they are merged */
    uint32_t with;
    bool gone;
};

static double merge_cost(const struct ward *ward, const double *sums, const double *weights,
                         uint32_t a, uint32_t b) {
    const double *x = sums + (size_t)a * ward->stride, *y = sums + (size_t)b * ward->stride;
    double square = 0;
    for (uint32_t d = 0; d < ward->stride; d++) {
        double difference = x[d] / weights[a] - y[d] / weights[b];
        square += difference * difference;
    }
    return square * weights[a] * weights[b] / (weights[a] + weights[b]);
}

static void merge(const struct ward *ward, double *sums, double *weights, uint32_t into,
                  uint32_t from) {
    for (uint32_t d = 0; d < ward->stride; d++)
        sums[(size_t)into * ward->stride + d] += sums[(size_t)from * ward->stride + d];
    weights[into] += weights[from];
}

/* Among those after it, so that each pair is looked at once. */
static void find_partner(const struct ward *ward, const double *sums, const double *weights,
                         struct partner *partners, uint32_t of) {
    partners[of].cost = INFINITY;
    for (uint32_t i = of + 1; i < ward->count; i++) {
        double cost = partners[i].gone ? INFINITY : merge_cost(ward, sums, weights, of, i);
        if (cost < partners[of].cost) {
            partners[of].cost = cost;
            partners[of].with = i;
        }
    }
}

/* The cluster `into` is another now, and `from` is gone. */
static void update_partners(const struct ward *ward, const double *sums, const double *weights,
                            struct partner *partners, uint32_t into, uint32_t from) {
    for (uint32_t i = 0; i < ward->count; i++) {
        if (partners[i].gone)
            continue;
        if (i == into || (i < from && partners[i].with == from) ||
            (i < into && partners[i].with == into))
            find_partner(ward, sums, weights, partners, i);
        else if (i < into) {
            double cost = merge_cost(ward, sums, weights, i, into);
            if (cost < partners[i].cost) {
                partners[i].cost = cost;
                partners[i].with = into;
            }
        }
    }
}

static void find_merges(struct ward *ward, double *sums, double *weights,
                        struct partner *partners) {
    for (uint32_t i = 0; i < ward->count; i++)
        find_partner(ward, sums, weights, partners, i);
    for (uint32_t done = 0; done + 1 < ward->count; done++) {
        uint32_t into = UINT32_MAX;
        for (uint32_t i = 0; i < ward->count; i++)
            if (!partners[i].gone && partners[i].cost < INFINITY &&
                (into == UINT32_MAX || partners[i].cost < partners[into].cost))
                into = i;
        if (into == UINT32_MAX) /* distances without end: those left stay apart */
            return;
        uint32_t from = partners[into].with;
        ward->merges[done].into = into;
        ward->merges[done].from = from;
        merge(ward, sums, weights, into, from);
        partners[from].gone = true;
        update_partners(ward, sums, weights, partners, into, from);
    }
}

/* Copies of sums and weights, for merging. */
static bool copy_clusters(const struct ward *ward, double **sums, double **weights,
                          struct error *error) {
    size_t bytes = (size_t)ward->count * sizeof(double);
    *sums = calloc(ward->stride, bytes + 1);
    *weights = calloc(1, bytes + 1);
    if (!*sums || !*weights)
        return error_set(error, "out of memory for %u clusters", ward->count);
    memcpy(*sums, ward->sums, bytes * ward->stride);
    memcpy(*weights, ward->weights, bytes);
    return true;
}

bool ward_end(struct ward *ward, struct error *error) {
    double *sums = NULL, *weights = NULL;
    struct partner *partners = calloc(WARD_SMALL, sizeof *partners);
    bool good = copy_clusters(ward, &sums, &weights, error);
    if (good && partners)
        find_merges(ward, sums, weights, partners);
    else if (good)
        good = error_set(error, "out of memory for %d clusters", WARD_SMALL);
    free(partners);
    free(sums);
    free(weights);
    return good;
}

bool ward_init(struct ward *ward, const struct projection *slices, uint64_t seed,
               struct error *error) {
    struct projection drawn = {0};
    bool good = ward_begin(ward, slices->stride, error) &&
                draw_slices(slices, seed, &drawn, error) &&
                make_clusters(ward, &drawn, seed, error) && ward_end(ward, error);
    projection_free(&drawn);
    return good;
}

bool ward_centroids(const struct ward *ward, uint32_t clusters, float *centroids,
                    struct error *error) {
    double *sums = NULL, *weights = NULL;
    bool gone[WARD_SMALL] = {false};
    bool good = copy_clusters(ward, &sums, &weights, error);
    for (uint32_t i = 0; good && i < ward->count - clusters; i++) {
        merge(ward, sums, weights, ward->merges[i].into, ward->merges[i].from);
        gone[ward->merges[i].from] = true;
    }
    for (uint32_t i = 0, to = 0; good && i < ward->count && to < clusters; i++)
        if (!gone[i]) {
            for (uint32_t d = 0; d < ward->stride; d++)
                centroids[to * ward->stride + d] =
                    (float)(sums[(size_t)i * ward->stride + d] / weights[i]);
            to++;
        }
    free(sums);
    free(weights);
    return good;
}
