/* Machines with the same prefetchers share a pass through the caches, since nothing else of them
 * changes what a cache that knows no time holds. A second processor, if there is one, evaluates
 * some of them, or simulates when that is to be checked. */
#include "model/predict.h"

#include <math.h>
#include <stdlib.h>

#include "core/core.h"
#include "model/hybrid_split.h"
#include "model/predict_check.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/executor.h"
#include "util/jobs.h"

/* Machines of the same prefetchers. */
struct pass {
    const struct machine *machine; /* the first of them */
    uint32_t *machines;
    uint32_t machine_count;
    struct hybrid_config *configs; /* [machine of the pass × methods + method] */
    struct data_reach reach;
};

/* A guest thread. */
struct lane {
    struct lane *next;
    uint32_t thread;
    struct check_pair *pairs; /* of each machine, when they are checked */
    struct lane_pass {
        struct data_trace *data;
        struct hybrid_split *hybrid;
    } passes[];
};

struct predict_run {
    const struct predict_options *options;
    struct hybrid_prediction *prediction;
    struct trace *trace;
    struct pass *passes; /* as many as machines, at most */
    uint32_t pass_count;
    struct lane *lanes;
    uint64_t passed;               /* instructions of the trace */
    struct executor *executors[2]; /* of cores that check */
    struct executor *second;       /* of some configurations; NULL: there is one processor */
};

const struct predict_method predict_refinements[PREDICT_REFINEMENTS] = {
    {.parts = PARTS_ALL},
    {.parts = PARTS_ALL, .compensation = COMPENSATE_WINDOW},
    {.parts = PARTS_ALL, .pending_hits = true, .compensation = COMPENSATE_WINDOW},
    {.parts = PARTS_ALL,
     .pending_hits = true,
     .windows = WINDOWS_SWAM,
     .compensation = COMPENSATE_WINDOW},
    {.parts = PARTS_ALL,
     .pending_hits = true,
     .windows = WINDOWS_SWAM_MLP,
     .compensation = COMPENSATE_WINDOW},
    {.parts = PARTS_ALL, .pending_hits = true, .windows = WINDOWS_SLIDING}};
const char *const predict_refinement_names[PREDICT_REFINEMENTS] = {
    "plain windows", "+ window compensation", "+ pending hits", "+ SWAM windows",
    "+ SWAM-MLP",    "sliding reorder buffer"};

/* ---- processors ---- */

static uint32_t fewest_mshrs(const struct machine *machine) {
    const struct machine_cache *caches[] = {&machine->l1d, &machine->l2, &machine->llc};
    uint32_t fewest = 0;
    for (int i = 0; i < 3; i++)
        if (caches[i]->present && caches[i]->mshrs && (!fewest || caches[i]->mshrs < fewest))
            fewest = caches[i]->mshrs;
    return fewest;
}

static uint32_t memory_latency(const struct machine *machine) {
    const struct machine_dram *dram = &machine->dram;
    if (!dram->banked)
        return dram->latency;
    return (uint32_t)lround(dram->base_latency +
                            (dram->trcd + dram->tcl) * machine->clock_ghz / dram->clock_ghz);
}

static uint32_t hit_latency(const struct machine *machine) {
    return machine->llc.present  ? machine->llc.latency
           : machine->l2.present ? machine->l2.latency
                                 : machine->l1d.latency;
}

static bool prefetches(const struct machine *machine) {
    return machine_prefetches(&machine->l1d) ||
           (machine->l2.present && machine_prefetches(&machine->l2)) ||
           (machine->llc.present && machine_prefetches(&machine->llc));
}

bool predict_config(const struct machine *machine, const struct predict_method *method,
                    struct hybrid_config *config, struct error *error) {
    const struct machine_core *core = &machine->core;
    if (core->in_order)
        return error_set(error,
                         "machine %s issues in order: the model is of a reorder buffer (choose "
                         "another with --machine)",
                         machine->name);
    *config = (struct hybrid_config){.rob = core->rob,
                                     .width = core->dispatch_width < core->commit_width
                                                  ? core->dispatch_width
                                                  : core->commit_width,
                                     .latency = memory_latency(machine),
                                     .hit_latency = hit_latency(machine),
                                     .mshrs = fewest_mshrs(machine),
                                     .store_queue = core->store_queue,
                                     .prefetching = prefetches(machine),
                                     .pending_hits = method->pending_hits,
                                     .windows = method->windows,
                                     .compensation = method->compensation,
                                     .fixed = method->fixed,
                                     .parts = method->parts};
    if (!hybrid_check(config, error))
        return false;
    if (method->ignore_mshrs)
        config->mshrs = 0;
    return true;
}

/* ---- passes ---- */

static bool same_prefetcher(const struct machine_cache *a, const struct machine_cache *b) {
    return a->prefetcher == b->prefetcher && a->prefetch_degree == b->prefetch_degree &&
           a->prefetch_start == b->prefetch_start && a->second_prefetcher == b->second_prefetcher &&
           a->second_degree == b->second_degree && a->second_start == b->second_start &&
           a->third_prefetcher == b->third_prefetcher;
}

static struct pass *pass_of(struct predict_run *run, const struct machine *machine) {
    for (uint32_t i = 0; i < run->pass_count; i++) {
        const struct machine *first = run->passes[i].machine;
        if (same_prefetcher(&first->l1d, &machine->l1d) &&
            same_prefetcher(&first->l2, &machine->l2) &&
            same_prefetcher(&first->llc, &machine->llc))
            return &run->passes[i];
    }
    struct pass *pass = &run->passes[run->pass_count++];
    pass->machine = machine;
    return pass;
}

static bool join_pass(struct predict_run *run, uint32_t number, struct error *error) {
    const struct predict_options *options = run->options;
    const struct machine *machine = &options->machines[number];
    struct pass *pass = pass_of(run, machine);
    const uint32_t methods = options->method_count;
    if (!pass->machines)
        pass->machines = calloc(options->machine_count, sizeof *pass->machines);
    if (!pass->configs)
        pass->configs = calloc((size_t)options->machine_count * methods, sizeof *pass->configs);
    if (!pass->machines || !pass->configs)
        return error_set(error, "out of memory for %u machines", options->machine_count);
    for (uint32_t i = 0; i < methods; i++) {
        struct hybrid_config *config = &pass->configs[pass->machine_count * methods + i];
        if (!predict_config(machine, &options->methods[i], config, error))
            return false;
        const uint32_t window = hybrid_window_reach(config), arrival = hybrid_arrival_reach(config);
        pass->reach.window = window > pass->reach.window ? window : pass->reach.window;
        pass->reach.arrival = arrival > pass->reach.arrival ? arrival : pass->reach.arrival;
    }
    pass->machines[pass->machine_count++] = number;
    return true;
}

/* ---- threads ---- */

static void lane_free(const struct predict_run *run, struct lane *lane) {
    for (uint32_t i = 0; i < run->pass_count; i++) {
        data_trace_free(lane->passes[i].data);
        hybrid_split_free(lane->passes[i].hybrid);
    }
    for (uint32_t i = 0; lane->pairs && i < run->options->machine_count; i++)
        check_pair_free(&lane->pairs[i]);
    free(lane->pairs);
    free(lane);
}

static bool lane_start(const struct predict_run *run, struct lane *lane, struct error *error) {
    const struct predict_options *options = run->options;
    for (uint32_t i = 0; i < run->pass_count; i++) {
        const struct pass *pass = &run->passes[i];
        struct lane_pass *own = &lane->passes[i];
        own->hybrid = hybrid_split_new(pass->configs, pass->machine_count * options->method_count,
                                       run->second, error);
        const struct data_sink sink = {hybrid_split_take, own->hybrid};
        if (!own->hybrid || !(own->data = data_trace_new(pass->machine, pass->reach, sink, error)))
            return false;
    }
    if (!options->check)
        return true;
    if (!(lane->pairs = calloc(options->machine_count, sizeof *lane->pairs)))
        return error_set(error, "out of memory for the cores of a thread");
    return all_where(i, options->machine_count,
                     check_pair_new(&lane->pairs[i], &options->machines[i], run->executors, error));
}

static struct lane *lane_of(struct predict_run *run, uint32_t thread, struct error *error) {
    for (struct lane *lane = run->lanes; lane; lane = lane->next)
        if (lane->thread == thread)
            return lane;
    struct lane *lane = calloc(1, sizeof *lane + run->pass_count * sizeof *lane->passes);
    if (!lane)
        return error_null(error, "out of memory for a thread");
    lane->thread = thread;
    if (!lane_start(run, lane, error)) {
        lane_free(run, lane);
        return NULL;
    }
    lane->next = run->lanes;
    run->lanes = lane;
    run->prediction->threads++;
    return lane;
}

static void add_counts(struct data_counts *sum, const struct data_counts *more) {
    sum->instructions += more->instructions;
    sum->uops += more->uops;
    sum->accesses += more->accesses;
    sum->load_misses += more->load_misses;
    sum->store_misses += more->store_misses;
    sum->events += more->events;
}

static bool lane_finish(struct predict_run *run, struct lane *lane, struct error *error) {
    const struct predict_options *options = run->options;
    struct hybrid_prediction *prediction = run->prediction;
    for (uint32_t i = 0; i < run->pass_count; i++) {
        const struct pass *pass = &run->passes[i];
        data_trace_finish(lane->passes[i].data);
        const struct data_counts counts = data_trace_counts(lane->passes[i].data);
        prediction->instructions += i == 0 ? counts.instructions : 0;
        for (uint32_t k = 0; k < pass->machine_count; k++) {
            add_counts(&prediction->machines[pass->machines[k]].counts, &counts);
            for (uint32_t method = 0; method < options->method_count; method++) {
                const struct hybrid_result result =
                    hybrid_split_result(lane->passes[i].hybrid, k * options->method_count + method);
                hybrid_result_add(
                    &prediction->results[pass->machines[k] * options->method_count + method],
                    &result, 1);
            }
        }
    }
    for (uint32_t i = 0; options->check && i < options->machine_count; i++) {
        struct predict_machine *machine = &prediction->machines[i];
        if (!check_pair_finish(&lane->pairs[i], &machine->cycles, &machine->cycles_ideal_long,
                               error))
            return false;
    }
    return true;
}

static bool lane_end(struct predict_run *run, uint32_t thread, struct error *error) {
    struct lane **link = &run->lanes;
    while (*link && (*link)->thread != thread)
        link = &(*link)->next;
    struct lane *lane = *link;
    if (!lane)
        return true;
    *link = lane->next;
    const bool good = lane_finish(run, lane, error);
    lane_free(run, lane);
    return good;
}

/* ---- the run ---- */

/* Caches know of these instructions and nothing else does. */
static bool warm_piece(struct predict_run *run, struct lane *lane, const struct trace_batch *piece,
                       struct error *error) {
    const struct core_input input = core_input_of(trace_code(run->trace), piece);
    for (uint32_t i = 0; i < run->pass_count; i++)
        if (!data_trace_warm(lane->passes[i].data, &input, error))
            return false;
    for (uint32_t i = 0; lane->pairs && i < run->options->machine_count; i++)
        if (!check_pair_warm(&lane->pairs[i], &input, error))
            return false;
    return true;
}

static bool predict_piece(struct predict_run *run, struct lane *lane,
                          const struct trace_batch *piece, struct error *error) {
    const struct core_input input = core_input_of(trace_code(run->trace), piece);
    const double began = clock_monotonic();
    for (uint32_t i = 0; i < run->pass_count; i++)
        if (!data_trace_add(lane->passes[i].data, &input, error))
            return false;
    run->prediction->model_seconds += clock_monotonic() - began;
    for (uint32_t i = 0; lane->pairs && i < run->options->machine_count; i++)
        if (!check_pair_add(&lane->pairs[i], &input, error))
            return false;
    return true;
}

static bool predict_all(struct predict_run *run, const struct trace_batch *batch,
                        struct error *error) {
    struct lane *lane = batch->insn_count ? lane_of(run, batch->thread, error) : NULL;
    run->passed += batch->insn_count;
    return batch->insn_count == 0 || (lane && predict_piece(run, lane, batch, error));
}

/* Cuts a batch where the part that is predicted begins and ends. */
static bool run_pieces(struct predict_run *run, const struct trace_batch *batch,
                       struct error *error) {
    const struct predict_part *part = &run->options->part;
    if (!part->length)
        return predict_all(run, batch, error);
    const uint64_t warm = part->skip, begin = warm + part->warm, end = begin + part->length;
    for (uint32_t first = 0, last, counted; first < batch->insn_count; first = last) {
        const uint64_t place = run->passed;
        const uint64_t stop = place < warm ? warm : place < begin ? begin : end;
        if (place == stop)
            return true;
        last = batch_count(batch, first, stop - place, &counted);
        run->passed += counted;
        if (place < warm)
            continue;
        const struct trace_batch piece = batch_slice(batch, first, last);
        struct lane *lane = lane_of(run, batch->thread, error);
        if (!lane || !(place < begin ? warm_piece : predict_piece)(run, lane, &piece, error))
            return false;
    }
    return true;
}

static bool run_batch(struct predict_run *run, const struct trace_batch *batch,
                      struct error *error) {
    if (!run_pieces(run, batch, error))
        return false;
    run->passed += batch->passed;
    return !batch->thread_ended || lane_end(run, batch->thread, error);
}

static bool part_is_done(const struct predict_run *run) {
    const struct predict_part *part = &run->options->part;
    return part->length && run->passed == part->skip + part->warm + part->length;
}

/* What is skipped need not be decoded. A selector must see every instruction. */
static void pass_skipped(struct predict_run *run, const struct selector *selector) {
    if (run->passed < run->options->part.skip && !selector)
        trace_pass(run->trace, run->options->part.skip - run->passed);
}

static bool run_trace(struct predict_run *run, struct selector *selector, struct error *error) {
    const struct predict_options *options = run->options;
    struct trace_batch batch;
    int status;
    while (pass_skipped(run, selector), (status = trace_next(run->trace, &batch, error)) > 0) {
        if (watcher_stops(&options->watcher))
            break;
        if (selector)
            selector_apply(selector, trace_code(run->trace), &batch);
        if (!run_batch(run, &batch, error))
            return false;
        watcher_tell(&options->watcher, run->passed);
        if ((selector && selector_done(selector)) || part_is_done(run))
            break;
    }
    run->prediction->interrupted = watcher_stops(&options->watcher);
    if (status == 0 && selector && !selector_started(selector))
        return error_set(error, "--from %s: the function was never entered (see its name with nm)",
                         options->selection.from_symbol);
    if (status < 0)
        return false;
    while (run->lanes)
        if (!lane_end(run, run->lanes->thread, error))
            return false;
    return true;
}

static bool prepare(struct predict_run *run, struct error *error) {
    const struct predict_options *options = run->options;
    struct hybrid_prediction *prediction = run->prediction;
    const size_t machines = options->machine_count;
    prediction->machines = calloc(machines, sizeof *prediction->machines);
    prediction->results = calloc(machines * options->method_count, sizeof *prediction->results);
    run->passes = calloc(machines, sizeof *run->passes);
    if (!prediction->machines || !prediction->results || !run->passes)
        return error_set(error, "out of memory for %zu machines", machines);
    for (uint32_t i = 0; i < machines; i++)
        if (!join_pass(run, i, error))
            return false;
    if (jobs_processors() < 2)
        return true;
    if (!options->check)
        return (run->second = executor_new("model", error)) != NULL;
    return (run->executors[0] = executor_new("core", error)) &&
           (run->executors[1] = executor_new("ideal core", error));
}

bool predict(struct trace *trace, const struct predict_options *options,
             struct hybrid_prediction *prediction, struct error *error) {
    struct predict_run run = {.options = options, .prediction = prediction, .trace = trace};
    struct selector *selector = NULL;
    *prediction = (struct hybrid_prediction){0};
    const double began = clock_monotonic();
    bool good = prepare(&run, error);
    if (good && !selection_is_everything(&options->selection))
        good = (selector = selector_new(&options->selection, error)) != NULL;
    good = good && run_trace(&run, selector, error);
    prediction->seconds = clock_monotonic() - began;
    selector_free(selector);
    while (run.lanes) {
        struct lane *lane = run.lanes;
        run.lanes = lane->next;
        lane_free(&run, lane);
    }
    for (uint32_t i = 0; i < run.pass_count; i++) {
        free(run.passes[i].machines);
        free(run.passes[i].configs);
    }
    free(run.passes);
    executor_free(run.executors[0]);
    executor_free(run.executors[1]);
    executor_free(run.second);
    return good;
}

void hybrid_prediction_free(struct hybrid_prediction *prediction) {
    free(prediction->machines);
    free(prediction->results);
}
