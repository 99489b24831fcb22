/* Cells by path and by node are reduced to frames of the tree, recursion folded, as a flame graph
 * has them. */
#include "report/path_errors.h"

#include <math.h>
#include <stdlib.h>

#include "attribute/profile_error.h"
#include "report/comparison.h"
#include "util/order.h"

struct building {
    struct path_errors *errors;
    const struct simulation *simulation;
    struct units by_path, by_node; /* frames */
};

/* ---- shares ---- */

static bool above_is(const struct call_frames *frames, uint32_t frame, uint32_t procedure) {
    for (uint32_t at = frames->items[frame].parent; at && at != CALL_NONE_FRAME;
         at = frames->items[at].parent)
        if (frames->items[at].procedure == procedure)
            return true;
    return false;
}

/* Shares of frames themselves become those of frames with what they called, and of functions. */
static void sum_shares(const struct call_profile *profile, double *frames, double *procedures) {
    for (size_t i = profile->frames.count; i-- > 1;)
        frames[profile->frames.items[i].parent] += frames[i];
    for (uint32_t i = 1; i < profile->frames.count; i++) {
        const uint32_t procedure = profile->frames.items[i].procedure;
        if (!above_is(&profile->frames, i, procedure))
            procedures[procedure] += frames[i];
    }
}

static bool fill_shares(const struct call_profile *profile, const struct reduced_profile *reduced,
                        double **frames, double **procedures) {
    *frames = calloc(profile->frames.count + 1, sizeof **frames);
    *procedures = calloc(profile->procedure_count + 1, sizeof **procedures);
    if (!*frames || !*procedures)
        return false;
    for (uint64_t i = 0; i < reduced->count; i++)
        if (reduced->cells[i].insn < profile->frames.count)
            (*frames)[reduced->cells[i].insn] +=
                (double)reduced->cells[i].units / (double)reduced->total;
    sum_shares(profile, *frames, *procedures);
    return true;
}

static int by_share(const void *one, const void *other, void *shares) {
    const double *all = shares;
    const uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
    return descending(all[a], all[b]) ?: ascending(a, b);
}

static bool sort_procedures(struct path_errors *errors, uint32_t top) {
    const size_t count = errors->profile->procedure_count;
    if (!(errors->sorted = malloc((count + 1) * sizeof *errors->sorted)))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        errors->sorted[i] = i;
        errors->total += errors->procedures[i] > 0;
    }
    qsort_r(errors->sorted, count, sizeof *errors->sorted, by_share, errors->procedures);
    errors->shown = top && top < errors->total ? top : errors->total;
    return true;
}

/* ---- errors ---- */

static bool reduce_both(const struct building *building, const struct pics_cell *cells,
                        uint64_t count, uint32_t events, struct reduced_profile *profile,
                        struct reduced_profile *reference) {
    const struct call_path_result *paths = &building->simulation->paths;
    *reference = (struct reduced_profile){0};
    return profile_reduce(cells, count, &building->by_node, events, profile) &&
           profile_reduce(paths->cells, paths->cell_count, &building->by_path, events, reference);
}

/* Of cycles by frame and these events. */
static bool compare(const struct building *building, const struct pics_cell *cells, uint64_t count,
                    uint32_t events, const struct profile_result *result, double *error,
                    double *floor) {
    struct reduced_profile profile, reference;
    const bool room = reduce_both(building, cells, count, events, &profile, &reference);
    if (room && result->samples) {
        *error = profile_error(&profile, &reference);
        *floor = result->period == 1 ? 0 : error_floor(profile_spread(&reference), result->samples);
    }
    reduced_profile_free(&profile);
    reduced_profile_free(&reference);
    return room;
}

static void find_worst(const struct path_errors *errors, struct path_error *row) {
    for (uint32_t i = 0; i < errors->profile->procedure_count; i++) {
        const double off = fabs(row->procedures[i] - errors->procedures[i]);
        if (off > row->worst) {
            row->worst = off;
            row->worst_procedure = i;
        }
    }
}

static bool measure(const struct building *building, uint32_t number, const char *label) {
    struct path_errors *errors = building->errors;
    struct path_error *row = &errors->rows[number];
    const struct profile_result *result = &building->simulation->path_profiles[number];
    const uint32_t events = building->simulation->profiles[number].options.profiler->events;
    uint64_t count;
    struct pics_cell *cells = pics_cells(result->pics, &count);
    struct reduced_profile reduced = {0};
    *row = (struct path_error){.label = label,
                               .samples = result->samples,
                               .error = NAN,
                               .floor = NAN,
                               .stack_error = NAN,
                               .stack_floor = NAN};
    errors->count++;
    const bool room =
        cells && compare(building, cells, count, 0, result, &row->error, &row->floor) &&
        (!events ||
         compare(building, cells, count, events, result, &row->stack_error, &row->stack_floor)) &&
        profile_reduce(cells, count, &building->by_node, 0, &reduced) &&
        fill_shares(errors->profile, &reduced, &row->frames, &row->procedures);
    if (room && result->samples)
        find_worst(errors, row);
    reduced_profile_free(&reduced);
    free(cells);
    return room;
}

/* ---- the whole ---- */

static uint32_t *frames_of_nodes(const struct call_path_result *paths, const uint32_t *frames) {
    uint32_t *found = malloc((paths->node_count + (size_t)1) * sizeof *found);
    for (uint32_t i = 0; found && i < paths->node_count; i++)
        found[i] = paths->node_paths[i] == PATH_NONE ? 0 : frames[paths->node_paths[i]];
    return found;
}

static bool build(struct building *building, const struct comparison_request *request) {
    struct path_errors *errors = building->errors;
    const struct call_path_result *paths = &building->simulation->paths;
    struct reduced_profile oracle = {0};
    double *frames = NULL;
    errors->rows = calloc(request->count + (size_t)1, sizeof *errors->rows);
    bool room = errors->rows &&
                profile_reduce(paths->cells, paths->cell_count, &building->by_path, 0, &oracle) &&
                fill_shares(errors->profile, &oracle, &frames, &errors->procedures) &&
                sort_procedures(errors, request->top);
    for (uint32_t i = 0; room && i < request->count; i++)
        room = measure(building, i, request->labels[i]);
    free(frames);
    reduced_profile_free(&oracle);
    return room;
}

bool path_errors_build(struct path_errors *errors, struct call_profile *profile,
                       const struct simulation *simulation, const struct code *code,
                       struct program *program, const struct comparison_request *request,
                       struct error *error) {
    const struct call_path_result *paths = &simulation->paths;
    const uint32_t all = (uint32_t)profile->frames.count;
    uint32_t *frames = path_profile_frames(profile, simulation, code, program);
    uint32_t *nodes = frames ? frames_of_nodes(paths, frames) : NULL;
    struct building building = {.errors = errors,
                                .simulation = simulation,
                                .by_path = {frames, paths->count, all},
                                .by_node = {nodes, paths->node_count, all}};
    *errors = (struct path_errors){.profile = profile};
    const bool room = nodes && build(&building, request);
    free(frames);
    free(nodes);
    return room || error_set(error, "out of memory for the errors of call paths");
}

void path_errors_free(struct path_errors *errors) {
    for (uint32_t i = 0; i < errors->count; i++) {
        free(errors->rows[i].frames);
        free(errors->rows[i].procedures);
    }
    free(errors->rows);
    free(errors->procedures);
    free(errors->sorted);
    *errors = (struct path_errors){0};
}
