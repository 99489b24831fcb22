#include "study/matched_runs.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "program/program.h"
#include "region/work_bounds.h"
#include "study/chosen_regions.h"
#include "study/opened_trace.h"
#include "util/array.h"

/* Instructions before a region that tell what caches hold, as in explain: each begins with the
 * caches that the one before it left. */
enum { WARM_UP = 15000000 };

/* A bound lies at most so much of a slice behind where the slice begins. */
enum { PATIENCE_SHARE = 4 };

/* Of the first run so much may be simulated: else all of it may as well be, which is exact. */
static const double MOST_SIMULATED = 0.6;

/* By how much of the second run's instructions the regions may miss them, beyond what their own
 * spread leaves open: else it has work that the first run has not. */
static const double MOST_UNLIKE = 0.02;

struct matching {
    struct matched_runs *matched;
    struct work_markers markers;
    struct work_bounds bounds;
    const struct projection *profiled; /* slices of the first run */
    struct projection slices;          /* between bounds that are in both runs */
    const struct slice_table *table;
    struct region_choice *choice;
    uint32_t *clusters;
    struct given_regions given[2];
};

static __attribute__((format(printf, 2, 3))) bool cannot(struct matching *matching,
                                                         const char *format, ...) {
    struct matched_runs *matched = matching->matched;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(matched->why_not, sizeof matched->why_not, format, arguments);
    va_end(arguments);
    return true;
}

static bool is_over(const struct matching *matching) {
    return matching->matched->why_not[0];
}

/* ---- markers and bounds ---- */

static bool find_markers(struct matching *matching, struct error *error) {
    struct matched_runs *matched = matching->matched;
    const struct marked_run runs[2] = {{matched->runs[0]->trace, matched->runs[0]->profile},
                                       {matched->runs[1]->trace, matched->runs[1]->profile}};
    struct program *program = program_new();
    const bool good = program && work_markers_find(runs, program, &matching->markers);
    if (program)
        program_free(program);
    matched->markers = matching->markers.count;
    if (!good)
        return error_set(error, "out of memory for what the runs have in common");
    return matched->markers || cannot(matching, "no function or loop is executed equally often");
}

/* One where each slice begins, and the end. */
static bool want_bounds(struct matching *matching, struct error *error) {
    const struct slice_table *table = matching->table;
    const uint64_t ends[] = {matching->matched->runs[0]->instructions,
                             matching->matched->runs[1]->instructions};
    struct work_bounds *bounds = &matching->bounds;
    if (!table->slice_count)
        return error_set(error, "the first run has no slices");
    for (size_t i = 0; i < table->slice_count; i++)
        if (!work_bounds_want(bounds, table->slices[i].first))
            return error_set(error, "out of memory for slices");
    if (!work_bounds_want(bounds, ends[0]))
        return error_set(error, "out of memory for slices");
    struct work_bound *first = &bounds->items[0], *last = &bounds->items[bounds->count - 1];
    first->exact = first->found = last->exact = last->found = true;
    last->positions[0] = ends[0];
    last->positions[1] = ends[1];
    bounds->patience = ends[0] / table->slice_count / PATIENCE_SHARE;
    return true;
}

/* Reads a run once more, undecoded. */
static bool walk(struct matching *matching, unsigned side, struct error *error) {
    struct matched_runs *matched = matching->matched;
    const struct profiled_run *run = matched->runs[side];
    struct trace *trace = opened_trace(run->path, error);
    struct work_walk *walk = trace ? work_walk_new(trace, chunk_profile_process(run->profile),
                                                   matching->table->slices[0].thread, side,
                                                   &matching->markers, &matching->bounds)
                                   : NULL;
    struct trace_batch batch;
    uint64_t read = 0;
    int status = walk ? 1 : -1;
    if (trace && !walk)
        error_set(error, "out of memory for what the runs have in common");
    if (walk) {
        trace_watch(trace, work_walk_chunk, walk);
        watch_trace(matched->watch, trace);
        watch_begin(matched->watch, "matching", "instructions", run->instructions);
    }
    while (status > 0 && !matched->watch->signal && !work_walk_is_done(walk)) {
        trace_pass(trace, UINT64_MAX);
        status = trace_next(trace, &batch, error);
        watch_progress(matched->watch, read += status > 0 ? batch.insn_count + batch.passed : 0);
    }
    watch_end(matched->watch);
    watch_trace(matched->watch, NULL);
    work_walk_free(walk);
    trace_close(trace);
    return status >= 0;
}

/* ---- regions ---- */

/* Instructions of a run between a bound and the next. */
static uint64_t length_of(const struct matching *matching, size_t slice, int side) {
    const struct work_bound *bounds = matching->bounds.items;
    return bounds[slice + 1].positions[side] - bounds[slice].positions[side];
}

/* Bounds that are found, and between each and the next what the slices there are together. A
 * stretch that is longer in one run than in the other does not change as others do that execute the
 * same code in the first: one dimension more tells them apart. */
static bool join_slices(struct matching *matching, struct error *error) {
    const struct projection *profiled = matching->profiled;
    struct projection *slices = &matching->slices;
    struct work_bound *bounds = matching->bounds.items;
    const uint32_t stride = profiled->stride;
    projection_init(slices, profiled->dimensions, profiled->seed);
    slices->coordinates = calloc(profiled->count + 1, stride * sizeof *slices->coordinates);
    slices->instructions = calloc(profiled->count + 1, sizeof *slices->instructions);
    if (!slices->coordinates || !slices->instructions)
        return error_set(error, "out of memory for slices");
    for (size_t from = 0, to; from < profiled->count; from = to) {
        float *point = slices->coordinates + slices->count * stride;
        to = from + 1 + index_where(i, profiled->count - from - 1, bounds[from + 1 + i].found);
        const double all = (double)(bounds[to].wanted - bounds[from].wanted);
        for (size_t i = from; i < to; i++)
            for (uint32_t d = 0; d < stride; d++)
                point[d] += profiled->coordinates[i * stride + d] *
                            (float)((double)profiled->instructions[i] / all);
        bounds[slices->count] = bounds[from];
        bounds[slices->count + 1] = bounds[to];
        const uint64_t before = length_of(matching, slices->count, 0);
        if (profiled->dimensions < stride)
            point[profiled->dimensions] =
                (float)log((double)length_of(matching, slices->count, 1) / (double)before);
        slices->instructions[slices->count++] = before;
    }
    slices->dimensions += profiled->dimensions < stride;
    matching->bounds.count = slices->count + 1;
    return true;
}

/* What a point stands for, in instructions of a run. */
static uint64_t stands_for(const struct matching *matching, uint32_t point, int side) {
    uint64_t sum = 0;
    for (size_t i = 0; i < matching->choice->slice_count; i++)
        if (matching->choice->labels[i] == matching->choice->points[point].cluster)
            sum += length_of(matching, i, side);
    return sum;
}

static void give(struct matching *matching, uint32_t point) {
    const uint32_t slice = matching->choice->points[point].slice;
    for (int side = 0; side < 2; side++)
        matching->given[side].regions[matching->given[side].count++] =
            (struct given_region){.first = matching->bounds.items[slice].positions[side],
                                  .instructions = length_of(matching, slice, side),
                                  .stands_for = stands_for(matching, point, side),
                                  .cluster = matching->clusters[slice]};
}

static bool make_regions(struct matching *matching, struct error *error) {
    struct region_choice *choice = matching->choice;
    struct matched_runs *matched = matching->matched;
    if (!chosen_regions_find(&matching->slices, matched->regions, choice, &matching->clusters,
                             error))
        return false;
    const uint64_t simulated =
        sum_over(uint64_t, i, choice->point_count, length_of(matching, choice->points[i].slice, 0));
    const double share = (double)simulated / (double)matched->runs[0]->instructions;
    if (share > MOST_SIMULATED)
        return cannot(matching,
                      "%.0f %% of the run would be simulated for %" PRIu32
                      " stretches of the same work",
                      100 * share, choice->point_count);
    for (int side = 0; side < 2; side++) {
        matching->given[side].slice_count = choice->slice_count;
        matching->given[side].regions =
            calloc(choice->point_count + 1, sizeof(struct given_region));
        if (!matching->given[side].regions)
            return error_set(error, "out of memory for regions");
    }
    for (uint32_t i = 0; i < choice->point_count; i++)
        give(matching, i);
    matched->count = choice->point_count;
    return true;
}

static bool find_starts(struct matching *matching, unsigned side, struct error *error) {
    struct matched_runs *matched = matching->matched;
    return !matched->extents[side] ||
           trace_starts_read(&matched->starts[side], matched->watch, matched->runs[side]->path,
                             matched->extents[side], &matching->given[side], error);
}

static bool simulate(struct matching *matching, unsigned side, struct error *error) {
    struct matched_runs *matched = matching->matched;
    const bool found = find_starts(matching, side, error);
    const struct profiled_run *run = matched->runs[side];
    struct second_run_result *second = &matched->seconds[side];
    const struct capture_options capture = {.thread = -1};
    char *folder = temporary_folder(&matched->watch->temporaries, error);
    const struct second_run_request request = {.watch = matched->watch,
                                               .capture = &capture,
                                               .trace = run->path,
                                               .machine = matched->machine,
                                               .ideal = matched->ideal,
                                               .isa = trace_isa(run->trace),
                                               .folder = folder,
                                               .profile = run->profile,
                                               .instructions = run->instructions,
                                               .warm_up = WARM_UP,
                                               .stamped = true,
                                               .given = &matching->given[side],
                                               .details.extents = matched->extents[side],
                                               .starts = matched->starts[side].starts,
                                               .forecast_is_known = true};
    const bool good =
        found && folder && second_run(&request, second, error) &&
        (!matched->watch->signal ||
         error_set(error, "interrupted before both runs were simulated")) &&
        region_run_finish(second->regions, run->instructions, &matched->simulations[side], error);
    temporary_remove(&matched->watch->temporaries, folder);
    matched->simulations[side].regions.slices = second->slices;
    matched->codes[side] = good ? region_run_code(second->regions) : NULL;
    return good;
}

static bool find_difference(struct matching *matching, struct error *error) {
    struct matched_runs *matched = matching->matched;
    struct paired_difference *difference = &matched->difference;
    if (!paired_difference_of(&matched->simulations[0], &matched->simulations[1], difference))
        return error_set(error, "regions of the runs are not those of each other");
    const double all = (double)matched->runs[1]->instructions;
    const double off = fabs(difference->instructions - all);
    if (off > fmax(0, difference->instructions_half) + MOST_UNLIKE * all)
        return cannot(matching, "%.1f %% of the later run's instructions are not work of the first",
                      100 * off / all);
    return true;
}

static bool steps(struct matching *matching, struct error *error) {
    struct matched_runs *matched = matching->matched;
    if (trace_isa(matched->runs[0]->trace) != trace_isa(matched->runs[1]->trace))
        return cannot(matching, "they are of two architectures");
    if (!find_markers(matching, error) || is_over(matching))
        return is_over(matching);
    if (!chunk_profile_finish(matched->runs[0]->profile, &matching->profiled, &matching->table,
                              error) ||
        !want_bounds(matching, error) || !walk(matching, 0, error) || !walk(matching, 1, error))
        return false;
    if (matched->watch->signal)
        return error_set(error, "interrupted before both runs were simulated");
    work_bounds_settle(&matching->bounds);
    if (!join_slices(matching, error))
        return false;
    if (!make_regions(matching, error) || is_over(matching))
        return is_over(matching);
    return simulate(matching, 0, error) && simulate(matching, 1, error) &&
           find_difference(matching, error);
}

bool matched_runs_go(struct matched_runs *matched, struct error *error) {
    struct region_choice choice = {0};
    struct matching matching = {.matched = matched, .choice = &choice};
    const bool good = steps(&matching, error);
    work_markers_free(&matching.markers);
    work_bounds_free(&matching.bounds);
    region_choice_free(&choice);
    projection_free(&matching.slices);
    free(matching.clusters);
    free(matching.given[0].regions);
    free(matching.given[1].regions);
    return good;
}

void matched_runs_free(struct matched_runs *matched) {
    for (int side = 0; side < 2; side++) {
        second_run_free(&matched->seconds[side]);
        simulation_free(&matched->simulations[side]);
        trace_starts_free(&matched->starts[side]);
    }
}
