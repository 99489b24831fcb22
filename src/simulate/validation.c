/* The full run is cut into slices where regions begin and end, so that each region is one slice of
 * it. */
#include "simulate/validation.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/event.h"
#include "util/array.h"

static double ratio(double part, double whole) {
    return whole > 0 ? part / whole : 0;
}

double validation_error(double estimate, double truth) {
    return estimate == truth ? 0 : (estimate - truth) / truth;
}

void metrics_of(const struct slice_record *record, struct metrics *metrics) {
    double insns = (double)record->instructions, *values = metrics->values;
    const struct branch_statistics *branch = &record->counted.branch;
    const struct memory_statistics *memory = &record->counted.memory;
    values[METRIC_CPI] = ratio((double)record->cycles, insns);
    for (int state = 0; state < STATE_COUNT; state++)
        values[METRIC_STATES + state] = ratio((double)record->states[state], insns);
    for (int part = 0; part < PART_COUNT; part++)
        values[METRIC_PARTS + part] = ratio((double)record->parts[part] / CYCLE_UNITS, insns);
    values[METRIC_BRANCHES] =
        (double)(branch->conditional_wrong + branch->indirect_wrong + branch->returns_wrong);
    values[METRIC_L1I] = (double)memory->l1i.misses;
    values[METRIC_L1D] = (double)memory->l1d.misses;
    values[METRIC_L2] = (double)memory->l2.misses;
    values[METRIC_LLC] = (double)memory->llc.misses;
    values[METRIC_ITLB] = (double)memory->itlb_misses;
    values[METRIC_DTLB] = (double)memory->dtlb_misses;
    for (int i = METRIC_MISSES; i < METRIC_COUNT; i++)
        values[i] = ratio(1000 * values[i], insns);
}

static void add_metrics(struct metrics *sum, const struct metrics *metrics, double weight) {
    for (int i = 0; i < METRIC_COUNT; i++)
        sum->values[i] += weight * metrics->values[i];
}

static double weight_sum(const struct region_list *list) {
    return sum_over(double, i, list->region_count, list->regions[i].weight);
}

/* ---- the full run ---- */

static struct slice_end *region_ends(const struct region_list *list, size_t *count) {
    struct slice_end *ends = malloc((2 * list->region_count + 1) * sizeof *ends);
    *count = 0;
    for (size_t i = 0; ends && i < list->region_count; i++) {
        const struct region *region = &list->regions[i];
        if (region->first)
            ends[(*count)++] = (struct slice_end){region->thread, region->first};
        ends[(*count)++] = (struct slice_end){region->thread, region->first + region->instructions};
    }
    if (ends)
        *count = slice_ends_sort(ends, *count);
    return ends;
}

static bool is_last_of_thread(const struct simulation *full, const struct slice_record *slice) {
    for (size_t i = 0; i < full->slice_count; i++)
        if (full->slices[i].thread == slice->thread && full->slices[i].first > slice->first)
            return false;
    return true;
}

/* Where an exception ended the thread, the list counts the rest of its last block as executed. */
static bool is_region(const struct simulation *full, const struct slice_record *slice,
                      const struct region *region) {
    if (slice->thread != region->thread || slice->first != region->first ||
        slice->instructions > region->instructions)
        return false;
    const uint64_t missing = region->instructions - slice->instructions;
    return !missing || (missing < EVENT_MAX_BLOCK_INSNS && is_last_of_thread(full, slice));
}

static const struct slice_record *find_region(const struct simulation *full,
                                              const struct region *region) {
    for (size_t i = 0; i < full->slice_count; i++)
        if (is_region(full, &full->slices[i], region))
            return &full->slices[i];
    return NULL;
}

static void add_record(struct slice_record *sum, const struct slice_record *record) {
    sum->instructions += record->instructions;
    sum->cycles += record->cycles;
    for (int state = 0; state < STATE_COUNT; state++)
        sum->states[state] += record->states[state];
    for (int part = 0; part < PART_COUNT; part++)
        sum->parts[part] += record->parts[part];
    uint64_t *total = (uint64_t *)&sum->counted;
    const uint64_t *counter = (const uint64_t *)&record->counted;
    for (size_t i = 0; i < sizeof sum->counted / sizeof *total; i++)
        total[i] += counter[i];
}

/* What the slices of the full run say. */
static bool look_within(struct validation *validation, const struct simulation *full,
                        struct error *error) {
    const struct region_list *list = validation->list;
    struct slice_record whole = {0};
    double weights = weight_sum(list);
    for (size_t i = 0; i < full->slice_count; i++)
        add_record(&whole, &full->slices[i]);
    metrics_of(&whole, &validation->whole);
    if (!(validation->cpi = calloc(list->region_count + 1, sizeof *validation->cpi)))
        return error_set(error, "out of memory for regions");
    for (size_t i = 0; i < list->region_count; i++) {
        const struct region *region = &list->regions[i];
        const struct slice_record *within = find_region(full, region);
        struct metrics metrics;
        if (!within)
            return error_set(error,
                             "region %" PRIu32 " (instructions %" PRIu64 " to %" PRIu64
                             " of thread %" PRIu32 ") does not lie in it: is it another run?",
                             region->id, region->first, region->first + region->instructions,
                             region->thread);
        metrics_of(within, &metrics);
        add_metrics(&validation->within, &metrics, region->weight / weights);
        validation->cpi[i] = metrics.values[METRIC_CPI];
        validation->simulated += region->instructions;
    }
    return true;
}

/* Its errors are of the trace at `path`, but for an interrupt. */
static bool simulate_full(struct validation *validation, struct trace *trace, const char *path,
                          const struct slicing *slicing, const struct validation_options *options,
                          struct error *error) {
    const struct simulation_options all = {.machine = options->machine,
                                           .ideal = options->ideal,
                                           .sampling = sampling_everything(),
                                           .selection = {.thread = -1},
                                           .watcher = options->watcher,
                                           .slicing = slicing};
    struct simulation full;
    bool good = simulation_run(trace, &all, &full, error);
    validation->instructions = full.instructions;
    validation->cycles = full.cycles;
    validation->seconds = full.seconds;
    validation->threads = full.thread_count;
    if (good && full.interrupted)
        good = error_set(error, "interrupted before the full run was simulated");
    else if (!good || !look_within(validation, &full, error))
        good = error_prefix(error, "%s", path);
    simulation_free(&full);
    return good;
}

bool validation_full(struct validation *validation, const struct region_list *list,
                     const char *path, const struct validation_options *options,
                     struct error *error) {
    *validation = (struct validation){.list = list};
    size_t count;
    struct slice_end *ends = region_ends(list, &count);
    struct trace *trace = trace_open(path, error);
    bool good = trace && (ends || error_set(error, "out of memory for regions"));
    if (good && trace_isa(trace) != list->isa)
        good = error_set(
            error, "%s: its program is of another architecture than the list of regions", path);
    if (good && !trace_has_addresses(trace))
        good =
            error_set(error, "%s: no memory addresses are in it, so it cannot be simulated", path);
    if (good) {
        const struct slicing slicing = {.ends = ends, .end_count = count};
        good = simulate_full(validation, trace, path, &slicing, options, error);
    }
    if (trace)
        trace_close(trace);
    free(ends);
    return good;
}

/* ---- alone ---- */

/* Regions as windows of the full trace. */
static struct region_trace window_of(const struct region *region, const char *trace,
                                     uint64_t warm_up, char name[REGION_NAME]) {
    snprintf(name, REGION_NAME, "region %" PRIu32, region->id);
    return (struct region_trace){.name = name,
                                 .path = trace,
                                 .start = region->first,
                                 .end = region->first + region->instructions,
                                 .warm = warm_up,
                                 .stamped = warm_up == UINT64_MAX,
                                 .only = (int)region->thread,
                                 .process = region->process,
                                 .thread = 0,
                                 .stands_for = region->instructions};
}

static bool add_each(struct region_run *run, const struct region_trace *regions, size_t count,
                     struct error *error) {
    for (size_t i = 0; i < count; i++)
        if (!region_run_add(run, &regions[i], error))
            return false;
    return true;
}

static bool add_windows(struct region_run *run, const struct validation *validation,
                        const char *trace, uint64_t warm_up,
                        const struct validation_options *options, struct error *error) {
    const struct region_list *list = validation->list;
    struct region_trace *windows = calloc(list->region_count + 1, sizeof *windows);
    char(*names)[REGION_NAME] = calloc(list->region_count + 1, sizeof *names);
    bool good = (windows && names) || error_set(error, "out of memory for regions");
    for (size_t i = 0; good && i < list->region_count; i++)
        windows[i] = window_of(&list->regions[i], trace, warm_up, names[i]);
    good = good && (options->add ? options->add(options->add_context, run, windows,
                                                list->region_count, error)
                                 : add_each(run, windows, list->region_count, error));
    free(windows);
    free(names);
    return good;
}

/* What the regions took alone. */
static bool look_alone(const struct validation *validation, const struct region_run *run,
                       struct validation_trial *trial, struct error *error) {
    const struct region_list *list = validation->list;
    double weights = weight_sum(list), farthest = -1;
    for (size_t i = 0; i < list->region_count; i++) {
        uint64_t warmed;
        const struct slice_record *record = region_run_record(run, i, &warmed);
        struct metrics metrics;
        if (!record)
            return error_set(error, "interrupted before all regions were simulated");
        metrics_of(record, &metrics);
        add_metrics(&trial->metrics, &metrics, list->regions[i].weight / weights);
        trial->cpi[i] = metrics.values[METRIC_CPI];
        trial->warmed += (double)warmed / (double)list->region_count;
        double off = fabs(validation_error(trial->cpi[i], validation->cpi[i]));
        if (off > farthest) {
            farthest = off;
            trial->largest = (uint32_t)i;
        }
    }
    return true;
}

static struct validation_trial *new_trial(struct validation *validation) {
    assert(validation->trial_count < VALIDATION_MAX_TRIALS);
    struct validation_trial *trial = &validation->trials[validation->trial_count];
    *trial = (struct validation_trial){
        .cpi = calloc(validation->list->region_count + 1, sizeof *trial->cpi)};
    return trial->cpi ? trial : NULL;
}

bool validation_alone(struct validation *validation, const char *trace, const char *list_path,
                      uint64_t warm_up, const struct validation_options *options,
                      struct error *error) {
    const struct region_list *list = validation->list;
    const struct region_run_options how = {.machine = options->machine,
                                           .ideal = options->ideal,
                                           .isa = list->isa,
                                           .jobs = options->jobs,
                                           .watcher = options->watcher};
    struct validation_trial *trial = new_trial(validation);
    if (!trial)
        return error_set(error, "out of memory for regions");
    trial->warm_up = warm_up;
    trial->captured = !trace;
    struct region_run *run = region_run_new(&how, error);
    bool good = run && (trace ? add_windows(run, validation, trace, warm_up, options, error)
                              : region_run_add_list(run, list, list_path, warm_up, error));
    if (good) {
        struct simulation simulation;
        good = region_run_finish(run, list->instructions, &simulation, error) &&
               look_alone(validation, run, trial, error);
        simulation_free(&simulation);
    }
    region_run_free(run);
    if (good)
        validation->trial_count++;
    else
        free(trial->cpi);
    return good;
}

void validation_free(struct validation *validation) {
    for (uint32_t i = 0; i < validation->trial_count; i++)
        free(validation->trials[i].cpi);
    free(validation->cpi);
    memset(validation, 0, sizeof *validation);
}
