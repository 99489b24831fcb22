#include "study/design_summary.h"

#include <math.h>
#include <stdlib.h>

#include "util/array.h"

void pareto_front(const double *costs, const double *speeds, size_t count, bool *front) {
    for (size_t i = 0; i < count; i++)
        front[i] = speeds[i] > 0 && isfinite(costs[i]) &&
                   !any_where(k, count,
                              speeds[k] >= speeds[i] && costs[k] <= costs[i] &&
                                  (speeds[k] > speeds[i] || costs[k] < costs[i]));
}

static double time_of(const struct design_point *point) {
    return (double)point->result.cycles / (point->clock_ghz > 0 ? point->clock_ghz : 1);
}

static void find_speeds(const struct design *design, struct design_summary *summary) {
    const size_t each = design_configurations(design);
    for (size_t program = 0; program < design->program_count; program++) {
        const struct design_point *points = &design->points[program * each];
        const size_t first = index_where(i, each, design_point_is_done(&points[i]));
        for (size_t i = first; i < each; i++)
            if (design_point_is_done(&points[i]))
                summary->speeds[program * each + i] = time_of(&points[first]) / time_of(&points[i]);
    }
    for (size_t i = 0; i < each; i++) {
        double sum = 0;
        size_t count = 0;
        for (size_t program = 0; program < design->program_count; program++)
            if (design->programs[program].captured) {
                sum += log(summary->speeds[program * each + i]);
                count++;
            }
        summary->means[i] = count ? exp(sum / (double)count) : 0;
    }
}

/* Costs are those of a machine, the same for all programs of one architecture. */
static bool find_front(const struct design *design, struct design_summary *summary) {
    const size_t each = design_configurations(design);
    double *costs = calloc(each + 1, sizeof *costs);
    for (size_t i = 0; costs && i < each; i++)
        costs[i] = design_configuration(design, i)->cost;
    const bool good = costs != NULL;
    if (good)
        pareto_front(costs, summary->means, each, summary->front);
    free(costs);
    return good;
}

static bool find_effects(const struct design *design, struct design_summary *summary,
                         struct error *error) {
    struct factorial *effects = &summary->effects;
    if (design->point_count < 2 ||
        !all_where(i, design->point_count, design_point_is_done(&design->points[i])))
        return true;
    summary->logarithms = calloc(design->point_count, sizeof *summary->logarithms);
    if (!summary->logarithms)
        return error_set(error, "out of memory for effects");
    for (size_t i = 0; i < design->point_count; i++)
        summary->logarithms[i] = log((double)design->points[i].result.cycles);
    effects->values = summary->logarithms;
    effects->levels[0] = (uint32_t)design->program_count;
    effects->levels[1] = design->machines.count ? (uint32_t)design->machines.count : 1;
    for (size_t i = 0; i < design->axis_count; i++)
        effects->levels[2 + i] = (uint32_t)design->axes[i].count;
    effects->factor_count = (uint32_t)(2 + design->axis_count);
    return factorial_find(effects, error);
}

bool design_summary_find(const struct design *design, struct design_summary *summary,
                         struct error *error) {
    const size_t each = design_configurations(design);
    *summary =
        (struct design_summary){.speeds = calloc(design->point_count + 1, sizeof *summary->speeds),
                                .means = calloc(each + 1, sizeof *summary->means),
                                .front = calloc(each + 1, sizeof *summary->front)};
    if (!summary->speeds || !summary->means || !summary->front)
        return error_set(error, "out of memory for speeds");
    find_speeds(design, summary);
    return (find_front(design, summary) || error_set(error, "out of memory for costs")) &&
           find_effects(design, summary, error);
}

void design_summary_free(struct design_summary *summary) {
    free(summary->speeds);
    free(summary->means);
    free(summary->front);
    free(summary->logarithms);
    factorial_free(&summary->effects);
}

const char *design_factor_name(const struct design *design, uint32_t factor) {
    return factor == 0 ? "program" : factor == 1 ? "machine" : design->axes[factor - 2].key;
}

const char *design_factor_level(const struct design *design, uint32_t factor, uint32_t level) {
    return factor == 0              ? design->programs[level].name
           : factor > 1             ? design->axes[factor - 2].values[level]
           : design->machines.count ? design->machines.values[level]
                                    : design->points[0].machine_name;
}
