/* Costs are summed as they are and divided by instructions last. */
#include "region/prediction.h"

#include <math.h>
#include <stdlib.h>

#include "util/array.h"
#include "util/order.h"

double prediction_cpi(const struct region_costs *costs, const struct projection *slices,
                      const struct region_point *points, uint32_t count) {
    return sum_over(double, i, count,
                    region_costs_cpi(costs, slices, points[i].slice) * points[i].weight);
}

static void predict(struct prediction *prediction, const struct projection *slices,
                    const struct region_choice *choice) {
    const struct region_costs *costs = prediction->costs;
    double instructions = 0;
    for (size_t i = 0; i < slices->count; i++) {
        instructions += (double)slices->instructions[i];
        for (uint32_t c = 0; c < costs->column_count; c++)
            prediction->truth[c] += costs->values[i * costs->column_count + c];
    }
    for (uint32_t c = 0; c < costs->column_count; c++) {
        prediction->truth[c] /= instructions;
        for (uint32_t i = 0; i < choice->point_count; i++) {
            size_t slice = choice->points[i].slice;
            prediction->predicted[c] += choice->points[i].weight *
                                        costs->values[slice * costs->column_count + c] /
                                        (double)slices->instructions[slice];
        }
    }
}

/* ---- draws ---- */

static int by_size(const void *a, const void *b) {
    double x = fabs(*(const double *)a), y = fabs(*(const double *)b);
    return ascending(x, y);
}

static struct draw_errors summarise(double *errors, uint32_t count) {
    double sum = 0, sum_of_sizes = 0, squares = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += errors[i];
        sum_of_sizes += fabs(errors[i]);
    }
    for (uint32_t i = 0; i < count; i++)
        squares += (errors[i] - sum / count) * (errors[i] - sum / count);
    qsort(errors, count, sizeof *errors, by_size);
    uint32_t last = (uint32_t)ceil(0.95 * count);
    return (struct draw_errors){.mean = sum_of_sizes / count,
                                .deviation = count > 1 ? sqrt(squares / (count - 1)) : 0,
                                .most_95 = fabs(errors[(last ? last : 1) - 1])};
}

static bool draw(struct prediction *prediction, const struct projection *slices,
                 uint32_t point_count, enum selection_method method, uint64_t seed,
                 struct draw_errors *result, struct error *error) {
    double truth = prediction->truth[COSTS_CYCLES];
    struct region_point *points = calloc((size_t)point_count + 1, sizeof *points);
    double *errors = calloc((size_t)prediction->draws + 1, sizeof *errors);
    bool good = points && errors;
    if (!good)
        error_set(error, "out of memory for %u slices", point_count);
    for (uint32_t i = 0; good && i < prediction->draws; i++) {
        good = selection_draw(slices, method, point_count, seed + i, points, error);
        if (good)
            errors[i] = prediction_cpi(prediction->costs, slices, points, point_count) / truth - 1;
    }
    if (good)
        *result = summarise(errors, prediction->draws);
    free(points);
    free(errors);
    return good;
}

/* ---- clusters ---- */

static void measure_spreads(struct prediction *prediction, const struct projection *slices,
                            const struct region_choice *choice) {
    for (uint32_t p = 0; p < choice->point_count; p++) {
        const struct region_point *point = &choice->points[p];
        double weight = 0, sum = 0, squares = 0;
        for (size_t i = 0; i < slices->count; i++)
            if (choice->labels[i] == point->cluster) {
                double instructions = (double)slices->instructions[i];
                weight += instructions;
                sum += instructions * region_costs_cpi(prediction->costs, slices, i);
            }
        double mean = sum / weight;
        for (size_t i = 0; i < slices->count; i++)
            if (choice->labels[i] == point->cluster) {
                double off = region_costs_cpi(prediction->costs, slices, i) - mean;
                squares += (double)slices->instructions[i] * off * off;
            }
        prediction->spreads[prediction->spread_count++] = (struct cluster_spread){
            .cluster = point->cluster,
            .weight = point->weight,
            .mean = mean,
            .deviation = sqrt(squares / weight),
            .chosen = region_costs_cpi(prediction->costs, slices, point->slice)};
    }
}

bool prediction_make(struct prediction *prediction, const struct region_costs *costs,
                     const struct projection *slices, const struct region_choice *choice,
                     uint32_t draws, uint64_t seed, struct error *error) {
    *prediction = (struct prediction){.costs = costs, .draws = draws};
    prediction->truth = calloc(costs->column_count, sizeof *prediction->truth);
    prediction->predicted = calloc(costs->column_count, sizeof *prediction->predicted);
    prediction->spreads = calloc((size_t)choice->point_count + 1, sizeof *prediction->spreads);
    if (!prediction->truth || !prediction->predicted || !prediction->spreads)
        return error_set(error, "out of memory for a prediction");
    predict(prediction, slices, choice);
    if (!(prediction->truth[COSTS_CYCLES] > 0))
        return error_set(error, "the costs have no cycles");
    if (choice->labels)
        measure_spreads(prediction, slices, choice);
    return draw(prediction, slices, choice->point_count, SELECT_RANDOM, seed, &prediction->random,
                error) &&
           draw(prediction, slices, choice->point_count, SELECT_SYSTEMATIC, seed,
                &prediction->systematic, error);
}

void prediction_free(struct prediction *prediction) {
    free(prediction->truth);
    free(prediction->predicted);
    free(prediction->spreads);
    *prediction = (struct prediction){0};
}
