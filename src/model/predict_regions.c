/* See predict_regions.h. A region stands for its share of the run's instructions: its figures are
 * multiplied and added. */
#include "model/predict_regions.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "simulate/regions.h"
#include "util/order.h"

struct regions_run {
    const struct region_list *list;
    const struct predict_options *options;
    struct hybrid_prediction *sum;
    uint64_t work;   /* instructions of the regions done, with their warm-up */
    uint64_t before; /* of those skipped in the trace at hand */
};

static void tell_progress(void *context, uint64_t instructions) {
    const struct regions_run *run = context;
    if (instructions > run->before)
        watcher_tell(&run->options->watcher, run->work + instructions - run->before);
}

static uint64_t times(uint64_t count, double factor) {
    return (uint64_t)llround((double)count * factor);
}

static void add_machine(struct predict_machine *sum, const struct predict_machine *more,
                        double factor) {
    sum->counts.instructions += times(more->counts.instructions, factor);
    sum->counts.uops += times(more->counts.uops, factor);
    sum->counts.accesses += times(more->counts.accesses, factor);
    sum->counts.load_misses += times(more->counts.load_misses, factor);
    sum->counts.store_misses += times(more->counts.store_misses, factor);
    sum->counts.events += times(more->counts.events, factor);
    sum->cycles += times(more->cycles, factor);
    sum->cycles_ideal_long += times(more->cycles_ideal_long, factor);
}

static void add_region(struct regions_run *run, const struct hybrid_prediction *region,
                       uint64_t stands_for) {
    const struct predict_options *options = run->options;
    struct hybrid_prediction *sum = run->sum;
    const double factor = (double)stands_for / (double)region->instructions;
    for (uint32_t i = 0; i < options->machine_count; i++)
        add_machine(&sum->machines[i], &region->machines[i], factor);
    for (uint32_t i = 0; i < options->machine_count * options->method_count; i++)
        hybrid_result_add(&sum->results[i], &region->results[i], factor);
    sum->instructions += stands_for;
    sum->seconds += region->seconds;
    sum->model_seconds += region->model_seconds;
}

static bool check_trace(const struct regions_run *run, const struct trace *trace,
                        struct error *error) {
    if (trace_isa(trace) != run->list->isa)
        return error_set(error, "its program is of another architecture than the list of regions");
    return trace_has_addresses(trace) ||
           error_set(error, "no memory addresses are in it, so nothing can be predicted");
}

/* *done: it was not interrupted. */
static bool predict_trace(struct regions_run *run, struct trace *trace, const struct region *region,
                          uint64_t warm, uint64_t share, bool *done, struct error *error) {
    const uint64_t length = region_trace_stop(region) - region->trace_start;
    struct predict_options options = *run->options;
    struct hybrid_prediction prediction = {0};
    options.selection = (struct selection){.thread = -1};
    options.part = (struct predict_part){region->trace_start - warm, warm, length};
    options.watcher.progress = tell_progress;
    options.watcher.context = run;
    run->before = options.part.skip;
    bool good = check_trace(run, trace, error) && predict(trace, &options, &prediction, error);
    *done = good && !prediction.interrupted;
    if (*done && prediction.instructions != length) {
        *done = good = false;
        error_set(error,
                  "it ends %" PRIu64 " instructions early (%" PRIu64 " from instruction %" PRIu64
                  " on were to be predicted)",
                  length - prediction.instructions, length, region->trace_start);
    }
    if (*done)
        add_region(run, &prediction, share);
    run->work += warm + length;
    hybrid_prediction_free(&prediction);
    return good;
}

static bool predict_region(struct regions_run *run, const struct region *region, const char *path,
                           uint64_t warm, uint64_t share, bool *done, struct error *error) {
    *done = false;
    if (!region->trace)
        return error_set(error,
                         "region %" PRIu32 ": %s has no trace (capture it with 'culprit trace "
                         "--regions')",
                         region->id, path);
    char *file = region_trace_path(region, path);
    if (!file)
        return error_set(error, "out of memory for regions");
    struct trace *trace = trace_open(file, error);
    const uint64_t before = region->trace_start < warm ? region->trace_start : warm;
    if (trace)
        trace_only(trace, 0); /* the region's; the list's weights are shares of single threads */
    const bool good = trace && predict_trace(run, trace, region, before, share, done, error);
    if (trace)
        trace_close(trace);
    if (!good)
        error_prefix(error, "region %" PRIu32 ": %s", region->id, file);
    free(file);
    return good;
}

static int compare_keys(const void *a, const void *b) {
    const uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
    return ascending(one, other);
}

/* False: out of memory. */
static bool count_threads(const struct region_list *list, uint32_t *count) {
    uint64_t *keys = malloc((list->region_count + 1) * sizeof *keys);
    if (!keys)
        return false;
    for (size_t i = 0; i < list->region_count; i++)
        keys[i] = (uint64_t)list->regions[i].process << 32 | list->regions[i].thread;
    qsort(keys, list->region_count, sizeof *keys, compare_keys);
    *count = 0;
    for (size_t i = 0; i < list->region_count; i++)
        *count += i == 0 || keys[i] != keys[i - 1];
    free(keys);
    return true;
}

/* The regions that are done stand for all. */
static void stretch(struct hybrid_prediction *sum, const struct predict_options *options,
                    uint64_t instructions) {
    const double factor = (double)instructions / (double)sum->instructions - 1;
    for (uint32_t i = 0; i < options->machine_count; i++) {
        const struct predict_machine done = sum->machines[i];
        add_machine(&sum->machines[i], &done, factor);
    }
    for (uint32_t i = 0; i < options->machine_count * options->method_count; i++) {
        const struct hybrid_result done = sum->results[i];
        hybrid_result_add(&sum->results[i], &done, factor);
    }
    sum->instructions = instructions;
    sum->interrupted = true;
}

bool predict_regions(const struct region_list *list, const char *path, uint64_t warm,
                     const struct predict_options *options, struct predicted_regions *regions,
                     struct hybrid_prediction *prediction, struct error *error) {
    struct regions_run run = {.list = list, .options = options, .sum = prediction};
    uint64_t *shares = region_list_shares(list);
    const size_t machines = options->machine_count;
    *prediction = (struct hybrid_prediction){0};
    *regions = (struct predicted_regions){.count = (uint32_t)list->region_count};
    prediction->machines = calloc(machines, sizeof *prediction->machines);
    prediction->results = calloc(machines * options->method_count, sizeof *prediction->results);
    bool good = shares && prediction->machines && prediction->results &&
                count_threads(list, &prediction->threads);
    if (!good)
        error_set(error, "out of memory for regions");
    for (size_t i = 0; good && i < list->region_count && !(watcher_stops(&options->watcher)); i++) {
        const struct region *region = &list->regions[i];
        bool done;
        good = predict_region(&run, region, path, warm, shares[i], &done, error);
        regions->done += done;
        if (done)
            regions->instructions += region_trace_stop(region) - region->trace_start;
    }
    free(shares);
    if (good && prediction->instructions == 0)
        return error_set(error, "interrupted before any region was predicted");
    if (good && regions->done < regions->count)
        stretch(prediction, options, list->instructions);
    return good;
}
