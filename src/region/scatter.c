/* Sums of the slices' points, and of their squared lengths, by cluster. */
#include "region/scatter.h"

#include <stdlib.h>

static uint32_t cluster_count(const struct region_choice *choice) {
    uint32_t count = 0;
    for (size_t i = 0; i < choice->slice_count; i++)
        if (choice->labels[i] >= count)
            count = choice->labels[i] + 1;
    return count;
}

double *region_scatter(const struct projection *slices, const struct region_choice *choice,
                       uint32_t *count) {
    const uint32_t dimensions = slices->dimensions;
    *count = choice->labels ? cluster_count(choice) : 0;
    if (!*count)
        return NULL;
    double *sums = calloc((size_t)*count * dimensions, sizeof *sums);
    double *squares = calloc(*count, sizeof *squares), *members = calloc(*count, sizeof *members);
    double *scatter = calloc(*count, sizeof *scatter);
    bool good = sums && squares && members && scatter;
    for (size_t i = 0; good && i < choice->slice_count; i++) {
        const float *point = slices->coordinates + i * slices->stride;
        const uint32_t cluster = choice->labels[i];
        double *sum = sums + (size_t)cluster * dimensions;
        members[cluster]++;
        for (uint32_t d = 0; d < dimensions; d++) {
            sum[d] += (double)point[d];
            squares[cluster] += (double)point[d] * (double)point[d];
        }
    }
    for (uint32_t cluster = 0; good && cluster < *count; cluster++) {
        double mean = 0;
        for (uint32_t d = 0; d < dimensions; d++) {
            double sum = sums[(size_t)cluster * dimensions + d];
            mean += sum * sum;
        }
        if (squares[cluster] > 0)
            scatter[cluster] = 1 - mean / (members[cluster] * squares[cluster]);
    }
    free(sums);
    free(squares);
    free(members);
    if (!good) {
        free(scatter);
        scatter = NULL;
    }
    return scatter;
}
