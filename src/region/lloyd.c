/* Lloyd's algorithm ("Least squares quantization in PCM", 1982): each slice goes to the nearest
 * centroid, then each centroid to the mean of its slices, weighted by their instructions. Neither
 * step makes the distortion larger, so that at last no slice moves. See lloyd.h. */
#include "region/lloyd.h"

#include <stdlib.h>
#include <string.h>

static double distance2_of(const float *point, const float *centroid, uint32_t dimensions) {
    double sum = 0;
    for (uint32_t i = 0; i < dimensions; i++) {
        const double difference = (double)point[i] - centroid[i];
        sum += difference * difference;
    }
    return sum;
}

static uint32_t nearest_of(const struct projection *slices, size_t slice, const float *centroids,
                           uint32_t count) {
    const float *point = slices->coordinates + slice * slices->stride;
    double least = distance2_of(point, centroids, slices->dimensions);
    uint32_t nearest = 0;
    for (uint32_t i = 1; i < count; i++) {
        const double distance2 =
            distance2_of(point, centroids + (size_t)i * slices->stride, slices->dimensions);
        if (distance2 < least) {
            least = distance2;
            nearest = i;
        }
    }
    return nearest;
}

/* How many slices moved. */
static size_t assign(const struct projection *slices, const float *centroids, uint32_t count,
                     uint32_t *labels) {
    size_t moved = 0;
    for (size_t slice = 0; slice < slices->count; slice++) {
        const uint32_t nearest = nearest_of(slices, slice, centroids, count);
        moved += labels[slice] != nearest;
        labels[slice] = nearest;
    }
    return moved;
}

/* `sum` has room for a point. */
static void move_to_mean(const struct projection *slices, const uint32_t *labels, uint32_t cluster,
                         double *sum, float *centroid) {
    double weight = 0;
    memset(sum, 0, slices->dimensions * sizeof *sum);
    for (size_t slice = 0; slice < slices->count; slice++) {
        if (labels[slice] != cluster)
            continue;
        const double instructions = (double)slices->instructions[slice];
        for (uint32_t i = 0; i < slices->dimensions; i++)
            sum[i] += instructions * slices->coordinates[slice * slices->stride + i];
        weight += instructions;
    }
    for (uint32_t i = 0; i < slices->dimensions && weight > 0; i++)
        centroid[i] = (float)(sum[i] / weight);
}

uint32_t lloyd(const struct projection *slices, uint32_t count, uint32_t max_passes,
               float *centroids, uint32_t *labels, struct error *error) {
    double *sum = malloc(slices->dimensions * sizeof *sum);
    if (!sum) {
        error_set(error, "out of memory for a point of %u dimensions", slices->dimensions);
        return 0;
    }
    memset(labels, 0xff, slices->count * sizeof *labels); /* of no cluster yet */
    uint32_t passes = 0;
    while (passes++ < max_passes && assign(slices, centroids, count, labels) > 0 &&
           passes < max_passes)
        for (uint32_t i = 0; i < count; i++)
            move_to_mean(slices, labels, i, sum, centroids + (size_t)i * slices->stride);
    free(sum);
    return passes;
}
