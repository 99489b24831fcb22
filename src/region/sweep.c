/* A clustering depends on the points alone, not on the most clusters or the threshold: of each set
 * of points every number of clusters is tried once, and all searches look up what came of it.
 * Points of fewer dimensions are the first coordinates of those of more. */
#include "region/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "region/prediction.h"
#include "region/trials.h"
#include "util/array.h"

const char *const SWEEP_NAMES[SWEEP_KINDS] = {"max_clusters", "dimensions", "threshold",
                                              "coverage"};

/* The slices of an input that one set of trials clusters. */
struct subset {
    struct projection points;
    uint32_t *slices; /* their numbers in the input */
};

struct outcome {
    bool known;
    double error;
    uint64_t instructions;
    uint32_t regions;
};

struct job {
    struct sweep *sweep;
    const struct sweep_settings *settings;
    const struct sweep_input *inputs;
    size_t input_count;
    void (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;
    uint64_t done, total;
};

/* ---- the points of a subset ---- */

/* How far into its thread a slice may reach that is profiled. */
static uint64_t profiled_length(const struct sweep_input *input, double coverage) {
    uint64_t longest = 0;
    for (size_t i = 0; i < input->runs->points.count; i++) {
        const struct run_slice *slice = &input->runs->slices[i];
        uint64_t end = slice->first + slice->instructions;
        longest = end > longest ? end : longest;
    }
    return coverage >= 1 ? longest : (uint64_t)(coverage * (double)longest);
}

static bool make_subset(struct subset *subset, const struct sweep_input *input, uint32_t dimensions,
                        double coverage, struct error *error) {
    const struct projection *all = &input->runs->points;
    uint64_t length = profiled_length(input, coverage);
    projection_init(&subset->points, dimensions, all->seed);
    struct projection *points = &subset->points;
    points->coordinates = calloc(all->count * points->stride, sizeof *points->coordinates);
    points->instructions = calloc(all->count, sizeof *points->instructions);
    subset->slices = calloc(all->count, sizeof *subset->slices);
    if (!points->coordinates || !points->instructions || !subset->slices)
        return error_set(error, "out of memory for %zu slices", all->count);
    for (size_t i = 0; i < all->count; i++) {
        const struct run_slice *slice = &input->runs->slices[i];
        if (slice->first + slice->instructions > length && i > 0)
            continue;
        memcpy(points->coordinates + points->count * points->stride,
               all->coordinates + i * all->stride, dimensions * sizeof *points->coordinates);
        points->instructions[points->count] = all->instructions[i];
        subset->slices[points->count++] = (uint32_t)i;
    }
    return true;
}

static void free_subset(struct subset *subset) {
    projection_free(&subset->points);
    free(subset->slices);
}

/* ---- one setting of one input ---- */

static bool find_outcome(struct trials *trials, const struct subset *subset,
                         const struct sweep_input *input, uint32_t clusters,
                         struct outcome *outcome, struct error *error) {
    if (outcome->known)
        return true;
    struct region_choice choice = {0};
    bool good = trials_take(trials, clusters, &choice, error);
    const struct projection *all = &input->runs->points;
    for (uint32_t i = 0; good && i < choice.point_count; i++) {
        choice.points[i].slice = subset->slices[choice.points[i].slice];
        outcome->instructions += all->instructions[choice.points[i].slice];
    }
    if (good) {
        double truth = region_costs_total_cpi(input->costs, all);
        double predicted = prediction_cpi(input->costs, all, choice.points, choice.point_count);
        outcome->error = fabs(predicted / truth - 1);
        outcome->regions = choice.point_count;
        outcome->known = true;
    }
    region_choice_free(&choice);
    return good;
}

static void add_outcome(struct sweep_point *point, const struct outcome *outcome,
                        size_t input_count) {
    point->mean_error += outcome->error / (double)input_count;
    point->max_error = fmax(point->max_error, outcome->error);
    point->instructions += outcome->instructions;
    point->regions += outcome->regions;
}

/* The points from *at on for one threshold, of all numbers of most clusters. */
static bool add_searches(struct job *job, struct trials *trials, const struct subset *subset,
                         const struct sweep_input *input, double threshold,
                         struct outcome *outcomes, size_t *at, struct error *error) {
    const struct sweep_grid *grid = &job->settings->max_clusters;
    for (size_t i = 0; i < grid->count; i++) {
        struct region_choice choice = {0};
        if (!trials_search(trials, (uint32_t)grid->values[i], threshold, &choice, error))
            return false;
        uint32_t clusters = choice.tried[choice.chosen].clusters;
        if (!find_outcome(trials, subset, input, clusters, &outcomes[clusters], error))
            return false;
        add_outcome(&job->sweep->points[(*at)++], &outcomes[clusters], job->input_count);
    }
    if (job->progress)
        job->progress(job->context, ++job->done, job->total);
    return true;
}

/* ---- all settings ---- */

/* One set of points, for each of these thresholds. */
static bool sweep_subset(struct job *job, const struct sweep_input *input, uint32_t dimensions,
                         double coverage, const double *thresholds, size_t threshold_count,
                         size_t *at, struct error *error) {
    const struct sweep_grid *grid = &job->settings->max_clusters;
    struct region_settings settings = job->settings->choose->selection.clusters;
    settings.max_clusters = (uint32_t)grid->values[grid->count - 1];
    struct subset subset = {0};
    struct trials trials = {0};
    struct outcome *outcomes = calloc((size_t)settings.max_clusters + 1, sizeof *outcomes);
    bool good = outcomes != NULL;
    if (!good)
        error_set(error, "out of memory for a sweep");
    good = good && make_subset(&subset, input, dimensions, coverage, error) &&
           trials_init(&trials, &subset.points, &settings, error);
    for (size_t i = 0; good && i < threshold_count; i++)
        good = add_searches(job, &trials, &subset, input, thresholds[i], outcomes, at, error);
    trials_free(&trials);
    free_subset(&subset);
    free(outcomes);
    return good;
}

static bool sweep_input(struct job *job, const struct sweep_input *input, struct error *error) {
    const struct sweep_settings *settings = job->settings;
    double threshold = settings->choose->selection.clusters.threshold;
    uint32_t dimensions = settings->choose->dimensions;
    size_t at = 0;
    if (!sweep_subset(job, input, dimensions, 1, &threshold, 1, &at, error))
        return false;
    const struct sweep_grid *grid = &settings->others[SWEEP_DIMENSIONS];
    for (size_t i = 0; i < grid->count; i++)
        if (!sweep_subset(job, input, (uint32_t)grid->values[i], 1, &threshold, 1, &at, error))
            return false;
    grid = &settings->others[SWEEP_THRESHOLD];
    if (!sweep_subset(job, input, dimensions, 1, grid->values, grid->count, &at, error))
        return false;
    grid = &settings->others[SWEEP_COVERAGE];
    return all_where(
        i, grid->count,
        sweep_subset(job, input, dimensions, grid->values[i], &threshold, 1, &at, error));
}

/* ---- what comes of it ---- */

/* Whether it is of these: this kind, and with these most clusters (0: any). */
static bool is_of(const struct sweep_point *point, enum sweep_kind kind, uint32_t max_clusters) {
    return point->kind == kind && (!max_clusters || point->max_clusters == max_clusters);
}

/* Of these, no other has less of one and not more of the other. */
static void find_fronts(const struct sweep *sweep, struct sweep_point *point,
                        uint32_t max_clusters) {
    point->mean_front = point->max_front = true;
    for (size_t i = 0; i < sweep->point_count; i++) {
        const struct sweep_point *other = &sweep->points[i];
        if (!is_of(other, point->kind, max_clusters) || other->instructions > point->instructions)
            continue;
        bool fewer = other->instructions < point->instructions;
        point->mean_front &= !(other->mean_error < point->mean_error ||
                               (fewer && other->mean_error <= point->mean_error));
        point->max_front &= !(other->max_error < point->max_error ||
                              (fewer && other->max_error <= point->max_error));
    }
}

/* The first of these, in the order of the sweep, that the rule of paper C §6.3 allows. */
static size_t recommend(const struct sweep *sweep, enum sweep_kind kind, uint32_t max_clusters) {
    double least = INFINITY;
    for (size_t i = 0; i < sweep->point_count; i++)
        if (is_of(&sweep->points[i], kind, max_clusters))
            least = fmin(least, sweep->points[i].mean_error);
    for (size_t i = 0; i < sweep->point_count; i++) {
        struct sweep_point point = sweep->points[i];
        if (!is_of(&point, kind, max_clusters) || point.mean_error > least + 0.01)
            continue;
        find_fronts(sweep, &point, max_clusters);
        if (point.mean_front && point.max_front)
            return i;
    }
    return SIZE_MAX;
}

static bool make_points(struct sweep *sweep, const struct sweep_settings *settings,
                        struct error *error) {
    const struct sweep_grid *clusters = &settings->max_clusters;
    size_t count = 1;
    for (int kind = SWEEP_DIMENSIONS; kind < SWEEP_KINDS; kind++)
        count += settings->others[kind].count;
    sweep->points = calloc(count * clusters->count, sizeof *sweep->points);
    if (!sweep->points)
        return error_set(error, "out of memory for a sweep");
    for (int kind = SWEEP_CLUSTERS; kind < SWEEP_KINDS; kind++) {
        const struct sweep_grid *grid = &settings->others[kind];
        for (size_t i = 0; i < (kind == SWEEP_CLUSTERS ? 1 : grid->count); i++)
            for (size_t j = 0; j < clusters->count; j++)
                sweep->points[sweep->point_count++] =
                    (struct sweep_point){.kind = (enum sweep_kind)kind,
                                         .value = kind == SWEEP_CLUSTERS ? 0 : grid->values[i],
                                         .max_clusters = (uint32_t)clusters->values[j]};
    }
    return true;
}

bool sweep_make(struct sweep *sweep, const struct sweep_settings *settings,
                const struct sweep_input *inputs, size_t input_count,
                void (*progress)(void *context, uint64_t done, uint64_t total), void *context,
                struct error *error) {
    *sweep = (struct sweep){0};
    if (!make_points(sweep, settings, error))
        return false;
    struct job job = {.sweep = sweep,
                      .settings = settings,
                      .inputs = inputs,
                      .input_count = input_count,
                      .progress = progress,
                      .context = context};
    job.total = sweep->point_count / settings->max_clusters.count * input_count;
    for (size_t i = 0; i < input_count; i++)
        if (!sweep_input(&job, &inputs[i], error))
            return false;
    for (size_t i = 0; i < sweep->point_count; i++)
        find_fronts(sweep, &sweep->points[i], 0);
    sweep->recommended_clusters = recommend(sweep, SWEEP_CLUSTERS, 0);
    sweep->recommended_threshold =
        sweep->recommended_clusters == SIZE_MAX
            ? SIZE_MAX
            : recommend(sweep, SWEEP_THRESHOLD,
                        sweep->points[sweep->recommended_clusters].max_clusters);
    return true;
}

void sweep_free(struct sweep *sweep) {
    free(sweep->points);
    *sweep = (struct sweep){0};
}
