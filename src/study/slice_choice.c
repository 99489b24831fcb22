#include "study/slice_choice.h"

#include <inttypes.h>

#include "util/array.h"

/* What SimPoint chose has no clusters of slices, only points. */
static bool load_points(struct slice_choice *chosen, struct error *error) {
    struct region_choice *choice = &chosen->choice;
    choice->slice_count = chosen->runs.points.count;
    if (!region_points_read(&choice->points, &choice->point_count, chosen->simpoints,
                            chosen->weights, error))
        return false;
    double sum = 0;
    for (uint32_t i = 0; i < choice->point_count; i++) {
        sum += choice->points[i].weight;
        if (choice->points[i].slice >= choice->slice_count)
            return error_set(error, "%s: slice %" PRIu32 ": %s has only %zu", chosen->simpoints,
                             choice->points[i].slice, chosen->vectors[0], choice->slice_count);
    }
    for (uint32_t i = 0; i < choice->point_count; i++)
        choice->points[i].weight /= sum;
    return true;
}

static bool choose(struct slice_choice *chosen, struct error *error) {
    const struct choose_settings *settings = chosen->settings;
    profiled_runs_init(&chosen->runs, settings->dimensions, settings->selection.clusters.seed,
                       chosen->merge);
    for (uint32_t i = 0; i < chosen->vector_count; i++)
        if (!profiled_runs_add(&chosen->runs, chosen->vectors[i], error))
            return false;
    profiled_runs_merge_slices(&chosen->runs, settings->merge_slices);
    return chosen->simpoints
               ? load_points(chosen, error)
               : selection_choose(&chosen->runs, &settings->selection, &chosen->choice, error);
}

static bool predict(struct slice_choice *chosen, struct error *error) {
    return all_where(
               i, chosen->cost_count,
               region_costs_add(&chosen->measured, &chosen->runs, i, chosen->costs[i], error)) &&
           prediction_make(&chosen->prediction, &chosen->measured, &chosen->runs.points,
                           &chosen->choice, chosen->draws, chosen->settings->selection.draw, error);
}

bool slice_choice_go(struct slice_choice *chosen, struct error *error) {
    return choose(chosen, error) && (!chosen->cost_count || predict(chosen, error));
}

bool slice_choice_list(const struct slice_choice *chosen, uint32_t run, struct region_list *list,
                       struct error *error) {
    const enum selection_method method =
        chosen->simpoints ? SELECT_SIMPOINT : chosen->settings->selection.method;
    return region_list_build(list, &chosen->runs, run, chosen->choice.points,
                             chosen->choice.point_count, SELECTION_METHODS[method], error);
}

void slice_choice_free(struct slice_choice *chosen) {
    region_choice_free(&chosen->choice);
    prediction_free(&chosen->prediction);
    region_costs_free(&chosen->measured);
    profiled_runs_free(&chosen->runs);
}
