/* The sampling schedule counts the instructions of all threads together, in the order in which the
 * trace hands them out; a batch is cut where a step of the schedule ends.
 *
 * All cores show their cycles to one Oracle and one golden reference, which keep no state of a
 * stream; when slices are recorded each core has its own pair, so that what it gained in a slice
 * can be told. Weights: a window's events are what a core counted between its first and its last
 * cycle, times the weight of the level. The profiles are not kept per window: what they gained
 * during a level, times its weight, is moved to the total when the level ends. */
#include "simulate/simulate.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "simulate/element_layout.h"
#include "simulate/run_state.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/counters.h"
#include "util/order.h"

static void lane_free(const struct simulation_state *run, struct lane *lane) {
    const struct simulation_options *options = run->options;
    struct core_learned *learned = options->learned;
    if (lane->core && learned && !learned->memory)
        core_give(lane->core, learned);
    if (lane->core)
        core_free(lane->core);
    stall_causes_free(lane->causes);
    if (lane->tap)
        tap_free(lane->tap);
    workers_detach(run->workers, lane->attached);
    workers_detach(run->path_workers, lane->followers);
    graph_lane_free(lane->graph);
    call_lane_free(lane->calls);
    data_lane_free(lane->data);
    for (uint32_t i = 0; i < options->observer_count; i++)
        if (options->observers[i].detach && lane->observed[i])
            options->observers[i].detach(options->observers[i].context, lane->observed[i]);
    for (uint32_t i = 0; i < options->instruction_observer_count; i++)
        if (lane->instructions[i])
            options->instructions[i].detach(options->instructions[i].context,
                                            lane->instructions[i]);
    slice_recorder_free(&lane->slice);
    free(lane);
}

static bool attach_observers(const struct simulation_state *run, struct lane *lane,
                             struct error *error) {
    const struct simulation_options *options = run->options;
    return all_where(i, options->observer_count,
                     options->observers[i].attach(options->observers[i].context, lane->source,
                                                  lane->tap, &lane->observed[i], error)) &&
           all_where(i, options->instruction_observer_count,
                     options->instructions[i].attach(options->instructions[i].context,
                                                     &lane->instructions[i], error));
}

static bool attach_data(const struct simulation_state *run, struct lane *lane,
                        struct error *error) {
    const struct trace_process *process = trace_process(run->trace, lane->source.process);
    const uint32_t parent = process->generation ? UINT32_MAX : process->parent;
    const struct machine_core *core = &run->options->machine->core;
    const bool by_order = !core->in_order && !(run->options->ideal & IDEAL_WIN);
    if (!data_profile_fork(run->data, lane->source.process, parent) ||
        !(lane->data =
              data_lane_new(run->data, lane->source.process, by_order ? core->store_queue : 0)))
        return error_set(error, "out of memory for data objects");
    struct tap_worker worker = data_lane_worker(lane->data);
    worker.executor = run->attribution;
    call_lane_watch_data(lane->calls, lane->data);
    return tap_add_worker(lane->tap, &worker, error);
}

static bool attach_calls(const struct simulation_state *run, struct lane *lane,
                         struct error *error) {
    if (!run->calls)
        return true;
    const struct simulation_start *start = &run->options->start;
    if (!(lane->calls = call_lane_new(run->calls, lane->source.thread)) ||
        (start->start && start->thread == lane->source.thread &&
         !call_lane_begin(lane->calls, start->start)))
        return error_set(error, "out of memory for call paths");
    bool good = true;
    if (run->path_workers)
        lane->followers = workers_follow(run->path_workers, lane->calls, &good, error);
    if (!good)
        return false;
    struct tap_worker worker = call_lane_worker(lane->calls);
    worker.executor = run->attribution;
    if (run->options->paths_of_data)
        call_lane_unwatch(lane->calls);
    else if (!tap_add_worker(lane->tap, &worker, error))
        return false;
    return !run->data || attach_data(run, lane, error);
}

static struct lane *lane_new(struct simulation_state *run, struct tap_source source,
                             struct error *error) {
    struct lane *lane =
        calloc(1, sizeof *lane + run->options->observer_count * sizeof *lane->observed);
    if (!lane || !(lane->tap = tap_new(run->bus)) ||
        (run->causes && !(lane->causes = stall_causes_new()))) {
        if (lane)
            lane_free(run, lane);
        return error_null(error, "out of memory for the core of thread %" PRIu32, source.thread);
    }
    lane->source = source;
    struct core_options options = {.ideal = run->options->ideal,
                                   .executor = run->memory ? NULL : run->pipeline,
                                   .tap = lane->tap,
                                   .causes = lane->causes,
                                   .learned = run->options->learned,
                                   .memory = run->memory};
    const struct slicing *slicing = run->options->slicing;
    if (slicing && !slice_recorder_begin(&lane->slice, slicing, source.thread, error)) {
        lane_free(run, lane);
        return NULL;
    }
    bool own = slicing != NULL;
    struct tap_worker golden = golden_worker(own ? lane->slice.golden : run->golden);
    golden.executor = run->attribution;
    bool good = tap_add_worker(lane->tap, &golden, error);
    if (good)
        lane->attached = workers_attach(run->workers, lane->tap, &good, error);
    if (good && run->graph)
        lane->graph = graph_lane_new(run->graph, lane->tap, &good, error);
    if (!good || !attach_calls(run, lane, error) || !attach_observers(run, lane, error) ||
        !(lane->core = core_new(run->options->machine, &options, error))) {
        lane_free(run, lane);
        return NULL;
    }
    return lane;
}

bool run_make_room(struct simulation_state *run, uint32_t thread, struct error *error) {
    struct simulation *simulation = run->simulation;
    if (thread < simulation->thread_count)
        return true;
    size_t need = (size_t)thread + 1;
    if (!array_zeroed_room(run->table, run->table_capacity, need) ||
        !array_zeroed_room(simulation->threads, run->thread_capacity, need))
        return error_set(error, "out of memory for %zu threads", need);
    simulation->thread_count = (uint32_t)need;
    return true;
}

struct lane *run_lane_of(struct simulation_state *run, const struct trace_batch *batch,
                         struct error *error) {
    assert(run->table); /* run_make_room() has been here */
    struct lane *lane = run->table[batch->thread];
    struct tap_source source = {.process = batch->process, .thread = batch->thread};
    if (lane)
        return lane;
    if (!(lane = lane_new(run, source, error)))
        return NULL;
    lane->next = run->lanes;
    run->lanes = lane;
    run->table[batch->thread] = lane;
    return lane;
}

static_assert(sizeof(struct core_statistics) % sizeof(uint64_t) == 0, "all 64-bit counters");

static bool lane_end_window(struct simulation_state *run, struct lane *lane, struct error *error) {
    if (!lane->in_window)
        return true;
    lane->in_window = false;
    bool good = core_drain(lane->core, error);
    struct core_statistics now;
    core_statistics(lane->core, &now);
    uint64_t cycles = now.cycles - lane->at_window.cycles, weight = run->step.weight;
    struct simulation_thread *thread = &run->simulation->threads[lane->source.thread];
    thread->cycles += cycles * weight;
    thread->instructions += (now.instructions - lane->at_window.instructions) * weight;
    counters_add(&run->simulation->counted, &now, &lane->at_window, sizeof now, weight);
    run->window_cycles += (double)cycles;
    return good;
}

/* Lets the pipeline run empty and writes the slice down. */
static bool lane_end_slice(struct simulation_state *run, struct lane *lane, struct error *error) {
    struct simulation *simulation = run->simulation;
    struct slice_recorder *slice = &lane->slice;
    if (!slice->golden || !lane->in_window)
        return true;
    if (!array_room(simulation->slices, simulation->slice_capacity, simulation->slice_count + 1))
        return error_set(error, "out of memory for slices");
    struct slice_record *record = &simulation->slices[simulation->slice_count++];
    *record = (struct slice_record){.process = lane->source.process,
                                    .thread = lane->source.thread,
                                    .first = slice->first,
                                    .instructions = slice->position - slice->first};
    struct error late;
    bool good = lane_end_window(run, lane, error);
    good &= core_finish(lane->core, good ? error : &late);
    struct core_statistics now;
    core_statistics(lane->core, &now);
    counters_add(&record->counted, &now, &lane->at_window, sizeof now, 1);
    record->cycles = record->counted.cycles;
    slice_recorder_read(slice, record);
    return good;
}

/* A core's own golden reference goes to the run's. */
static bool collect_slices(struct simulation_state *run, struct slice_recorder *slice,
                           struct error *error) {
    return !slice->golden ||
           slice_recorder_move(slice, &run->sliced, golden_profile(run->golden)) ||
           error_set(error, "out of memory for the profile");
}

/* Also after a failure all that the core did is counted and has been to the workers. */
static bool lane_finish(struct simulation_state *run, struct lane *lane, struct error *error) {
    struct error late;
    bool good = lane_end_slice(run, lane, error);
    good &= lane_end_window(run, lane, good ? error : &late);
    good &= core_finish(lane->core, good ? error : &late);
    if (lane->graph)
        graph_lane_collect(lane->graph, run->step.weight);
    for (uint32_t i = 0; i < run->options->instruction_observer_count; i++) {
        const struct instruction_observer *observer = &run->options->instructions[i];
        good &=
            observer->collect(observer->context, lane->instructions[i],
                              observer->weight * (double)run->step.weight, good ? error : &late);
    }
    if (lane->causes && !stall_causes_move(run->causes, lane->causes, run->step.weight) && good)
        good = error_set(error, "out of memory for the causes of stalls");
    return collect_slices(run, &lane->slice, good ? error : &late) && good;
}

static bool check_paths(const struct simulation_state *run) {
    const struct simulation *simulation = run->simulation;
    uint64_t units = 0, instructions = 0;
    const bool measured = run->calls && !run->options->paths_of_data;
    if (measured)
        call_paths_total(run->calls, &units, &instructions);
    return !measured ||
           (units == simulation->cycles * CYCLE_UNITS && instructions == simulation->instructions);
}

/* Every cycle that the cores counted must have been attributed, once. */
static bool check_sums(const struct simulation_state *run, struct error *error) {
    const struct simulation *simulation = run->simulation;
    const uint64_t states = sum_over(uint64_t, i, STATE_COUNT, simulation->states[i]);
    if (states == simulation->cycles && simulation->cycles == simulation->counted.cycles &&
        pics_total(run->total) == simulation->cycles * CYCLE_UNITS && check_paths(run))
        return true;
    return error_set(error,
                     "attribution: of %" PRIu64 " simulated cycles %" PRIu64
                     " were attributed (a defect of culprit: please report it)",
                     simulation->counted.cycles, simulation->cycles);
}

/* Ends the level: what the profiles gained during it counts with its weight. */
bool run_collect(struct simulation_state *run, struct error *error) {
    struct simulation *simulation = run->simulation;
    uint64_t weight = run->step.weight;
    bool good = true;
    for (struct lane *lane = run->lanes; lane; lane = lane->next) {
        struct error late;
        good &= lane_finish(run, lane, good ? error : &late);
    }
    struct oracle_result now, *before = &run->collected;
    golden_counted(run->golden, &now);
    oracle_result_add(&now, &run->sliced);
    for (int state = 0; state < STATE_COUNT; state++)
        simulation->states[state] += (now.states[state] - before->states[state]) * weight;
    simulation->cycles += (now.cycles - before->cycles) * weight;
    simulation->instructions += (now.instructions - before->instructions) * weight;
    simulation->uops += (now.uops - before->uops) * weight;
    *before = now;
    if (!pics_move(run->total, golden_profile(run->golden), weight) ||
        (run->calls && !call_paths_collect(run->calls, weight)) ||
        (run->data && !data_profile_collect(run->data, weight)))
        return error_set(error, "out of memory for the profile");
    return good && check_sums(run, error);
}

bool run_lane_end(struct simulation_state *run, uint32_t thread, struct error *error) {
    assert(run->table); /* as in run_lane_of() */
    struct lane *lane = run->table[thread];
    if (!lane)
        return true;
    bool good = lane_finish(run, lane, error);
    run->table[thread] = NULL;
    struct lane **link = &run->lanes;
    while (*link && *link != lane)
        link = &(*link)->next;
    *link = lane->next;
    lane_free(run, lane);
    return good;
}

/* The schedule's step is complete: closes the window and, between levels, weighs the profiles. */
static bool next_step(struct simulation_state *run, struct error *error) {
    struct simulation *simulation = run->simulation;
    bool good = true;
    if (run->step.action == SAMPLING_SIMULATE) {
        for (struct lane *lane = run->lanes; lane; lane = lane->next)
            good &= lane_end_window(run, lane, error);
        if (run->step.level > 0)
            sampling_observe(&simulation->spread, run->step.level, run->window_cycles);
        run->window_cycles = 0;
    }
    struct sampling_step next = sampling_step(&run->options->sampling, simulation->executed);
    assert(next.end > simulation->executed);
    if (next.level != run->step.level)
        good = good && run_collect(run, error);
    run->step = next;
    simulation->levels = next.level;
    return good;
}

/* Counts what is handed to a core; the instructions that a compare-and-branch fuses count both. */
static bool count_executions(struct simulation_state *run, const struct trace_batch *piece,
                             struct error *error) {
    struct simulation *simulation = run->simulation;
    uint32_t known = trace_code(run->trace)->insn_count;
    if (!array_zeroed_room(simulation->executions, run->execution_capacity, known))
        return error_set(error, "out of memory for the profile");
    simulation->execution_count = known;
    uint64_t *executions = simulation->executions;
    const uint64_t weight = run->step.weight;
    const struct dynamic_insn *insn = piece->insns, *end = insn + piece->insn_count;
    if (piece->all_completed)
        for (; insn < end; insn++)
            executions[insn->insn] += weight;
    for (; insn < end; insn++)
        executions[insn->insn] += insn->flags & DYN_FAULT ? 0 : weight;
    return true;
}

static bool teach_observers(struct simulation_state *run, const struct code *code,
                            struct error *error) {
    const struct simulation_options *options = run->options;
    if (run->insns_known == code->insn_count)
        return true;
    run->insns_known = code->insn_count;
    return all_where(i, options->observer_count,
                     !options->observers[i].learn ||
                         options->observers[i].learn(options->observers[i].context, code, error));
}

bool run_show_piece(struct simulation_state *run, struct lane *lane,
                    const struct trace_batch *piece, struct error *error) {
    const struct code *code = trace_code(run->trace);
    const bool follows = lane->in_window;
    if (!lane->in_window) {
        lane->in_window = true;
        core_statistics(lane->core, &lane->at_window);
    }
    for (uint32_t i = 0; i < run->options->instruction_observer_count; i++) {
        const struct instruction_observer *observer = &run->options->instructions[i];
        if (!observer->see(observer->context, lane->instructions[i], lane->core, code, piece,
                           follows, error))
            return false;
    }
    return (!lane->calls || call_lane_see(lane->calls, code, piece, true, error)) &&
           count_executions(run, piece, error) && teach_observers(run, code, error);
}

/* The accesses where the layout puts them. */
static bool lay_out(struct simulation_state *run, const struct trace_batch *piece,
                    struct core_input *input, struct error *error) {
    if (!run->options->layout)
        return true;
    if (!array_room(run->moved, run->moved_capacity, (size_t)piece->access_count + 1))
        return error_set(error, "out of memory for accesses");
    element_layout_apply(run->options->layout, piece->process, piece->accesses, piece->access_count,
                         run->moved);
    input->accesses = run->moved;
    return true;
}

static bool simulate_piece(struct simulation_state *run, struct lane *lane,
                           const struct trace_batch *piece, struct error *error) {
    struct core_input input = core_input_of(trace_code(run->trace), piece);
    return run_show_piece(run, lane, piece, error) && lay_out(run, piece, &input, error) &&
           core_push(lane->core, &input, error);
}

/* Cuts what is simulated into slices. */
static bool simulate_slices(struct simulation_state *run, struct lane *lane,
                            const struct trace_batch *piece, struct error *error) {
    struct slice_recorder *slice = &lane->slice;
    for (uint32_t begin = 0, end, counted; begin < piece->insn_count; begin = end) {
        if (slice->position == slice->end && !lane_end_slice(run, lane, error))
            return false;
        end = batch_count(piece, begin, slice->end - slice->position, &counted);
        struct trace_batch part = batch_slice(piece, begin, end);
        slice->position += counted;
        if (!simulate_piece(run, lane, &part, error))
            return false;
    }
    return true;
}

/* Whether calls are followed through what is skipped: not up to where they are known to begin. */
static bool follows_calls(const struct simulation_state *run) {
    return run->calls && (!run->options->start.starts || run->simulation->simulated);
}

/* A piece of a batch that lies within one step, and how many of it count. */
static bool run_piece(struct simulation_state *run, const struct trace_batch *piece,
                      uint32_t counted, struct error *error) {
    struct simulation *simulation = run->simulation;
    const struct code *code = trace_code(run->trace);
    simulation->executed += counted;
    const bool skipped = run->step.action == SAMPLING_SKIP;
    if (skipped && !follows_calls(run))
        return true;
    struct lane *lane = run_lane_of(run, piece, error);
    if (!lane)
        return false;
    if (skipped)
        return call_lane_see(lane->calls, code, piece, false, error);
    if (run->step.action == SAMPLING_WARM) {
        simulation->warmed += counted;
        struct core_input input = core_input_of(code, piece);
        return (!lane->calls || call_lane_see(lane->calls, code, piece, false, error)) &&
               lay_out(run, piece, &input, error) && core_warm(lane->core, &input, error);
    }
    simulation->simulated += counted;
    return lane->slice.golden ? simulate_slices(run, lane, piece, error)
                              : simulate_piece(run, lane, piece, error);
}

static bool run_batch(struct simulation_state *run, const struct trace_batch *batch,
                      struct error *error) {
    if (!run_make_room(run, batch->thread, error))
        return false;
    struct simulation_thread *thread = &run->simulation->threads[batch->thread];
    thread->process = batch->process;
    thread->goes_on = trace_process_goes_on(run->trace, batch->process);
    for (uint32_t begin = 0; begin < batch->insn_count;) {
        if (run->simulation->executed == run->step.end && !next_step(run, error))
            return false;
        if (run->step.action == SAMPLING_STOP)
            return true;
        uint32_t counted,
            end = batch_count(batch, begin, run->step.end - run->simulation->executed, &counted);
        struct trace_batch piece = batch_slice(batch, begin, end);
        if (!run_piece(run, &piece, counted, error))
            return false;
        begin = end;
    }
    run->simulation->executed += batch->passed;
    return !batch->thread_ended || run_lane_end(run, batch->thread, error);
}

/* What the schedule skips need not be decoded. A selector, and whoever follows calls, must see
 * every instruction. */
static void pass_skipped(struct simulation_state *run, const struct selector *selector) {
    if (run->step.action == SAMPLING_SKIP && !selector && !follows_calls(run))
        trace_pass(run->trace, run->step.end - run->simulation->executed);
}

/* A region ends with its last instruction, not when the next one comes. */
static bool region_is_done(const struct simulation_state *run) {
    uint64_t position = run->simulation->executed;
    return position == run->step.end &&
           sampling_step(&run->options->sampling, position).action == SAMPLING_STOP;
}

static bool makes_thread(const struct trace_batch *batch) {
    for (uint32_t i = 0; i < batch->event_count; i++)
        if (batch->events[i].kind == THREAD_EVENT_CREATE)
            return true;
    return false;
}

/* Whether the run ends here because of a thread; *good: what was kept could be ended. */
static bool meets_thread(struct simulation_state *run, const struct trace_batch *batch, bool *good,
                         struct error *error) {
    const uint64_t within = run->options->until_threads;
    if (!within || run->kept_ended)
        return false;
    if (makes_thread(batch) && trace_keeps(run->trace))
        return run->simulation->threads_met = true;
    if (run->simulation->executed > within) {
        run->kept_ended = true;
        *good = trace_keep_end(run->trace, error);
    }
    return false;
}

/* Of an interrupted command that may make threads so many instructions are still read: one that
 * hangs, as threads that wait for each other do, is interrupted before any came. */
enum { LEAST_OF_COMMAND = 200000 };

static bool stops(const struct simulation_state *run) {
    return watcher_stops(&run->options->watcher) &&
           (!run->options->until_threads || run->simulation->executed > LEAST_OF_COMMAND);
}

static bool run_trace(struct simulation_state *run, struct selector *selector,
                      struct error *error) {
    const struct simulation_options *options = run->options;
    struct trace_batch batch;
    int status;
    while (pass_skipped(run, selector), (status = trace_next(run->trace, &batch, error)) > 0) {
        if (stops(run)) {
            run->simulation->interrupted = true;
            return true;
        }
        bool good = true;
        if (meets_thread(run, &batch, &good, error) || !good)
            return good;
        if (selector)
            selector_apply(selector, trace_code(run->trace), &batch);
        if (!run_batch(run, &batch, error))
            return false;
        if (batch.insn_count) /* a program may run on long after its limit */
            run->simulation->seconds = clock_monotonic() - run->started;
        watcher_tell(&options->watcher, run->simulation->executed);
        if ((selector && selector_done(selector)) || region_is_done(run))
            return true;
    }
    run->simulation->interrupted = watcher_stops(&options->watcher);
    if (status == 0 && selector && !selector_started(selector))
        return error_set(error, "--from %s: the function was never entered (see its name with nm)",
                         options->selection.from_symbol);
    return status == 0;
}

/* Reading and predecoding, the pipeline, and attribution each on a thread, where there is a second
 * processor. */
static bool start_threads(struct simulation_state *run, struct error *error) {
    if (run->options->one_thread || sysconf(_SC_NPROCESSORS_ONLN) < 2)
        return true;
    return (run->pipeline = executor_new("pipeline", error)) &&
           (run->attribution = executor_new("attribution", error));
}

void run_free_lanes(struct simulation_state *run) {
    free(run->moved);
    run->moved = NULL;
    while (run->lanes) {
        struct lane *lane = run->lanes;
        run->lanes = lane->next;
        lane_free(run, lane);
    }
}

/* Everything that holds simulated state; what it counted has been collected. */
static void free_cores(struct simulation_state *run) {
    run_free_lanes(run);
    workers_free(run->workers);
    workers_free(run->path_workers);
    graph_breakdown_free(run->graph);
    call_paths_free(run->calls);
    data_profile_free(run->data);
    tap_bus_free(run->bus);
    stall_causes_free(run->causes);
    executor_free(run->pipeline);
    executor_free(run->attribution);
    golden_free(run->golden);
    free(run->table);
}

static bool keep_causes(const struct stall_causes *causes, struct simulation *simulation) {
    size_t count;
    const struct stall_events *events = stall_causes_events(causes, &count);
    simulation->stalls = stall_causes_cells(causes, &simulation->stall_count);
    simulation->stall_events = malloc((count + 1) * sizeof *events);
    if (!simulation->stalls || !simulation->stall_events)
        return false;
    if (count)
        memcpy(simulation->stall_events, events, count * sizeof *events);
    simulation->stall_event_count = count;
    return true;
}

static int slices_in_order(const void *left, const void *right) {
    const struct slice_record *a = left, *b = right;
    return ascending(a->thread, b->thread) ?: ascending(a->first, b->first);
}

bool simulation_run(struct trace *trace, const struct simulation_options *options,
                    struct simulation *simulation, struct error *error) {
    memset(simulation, 0, sizeof *simulation);
    struct simulation_state run = {
        .options = options, .simulation = simulation, .trace = trace, .started = clock_monotonic()};
    run.step = sampling_step(&options->sampling, 0);
    struct selector *selector = NULL;
    bool good = selection_is_everything(&options->selection) ||
                (selector = selector_new(&options->selection, error));
    if (good &&
        (!(run.total = pics_new()) || !(run.golden = golden_new()) || !(run.bus = tap_bus_new())))
        good = error_set(error, "out of memory for the profile");
    if (good && options->machine->core.in_order && !(run.causes = stall_causes_new()))
        good = error_set(error, "out of memory for the causes of stalls");
    good = good && start_threads(&run, error) &&
           (run.workers = workers_new(options, run.attribution, error));
    if (good && options->extents &&
        !(run.calls = call_paths_new(options->extents, options->start.starts)))
        good = error_set(error, "out of memory for call paths");
    if (good && run.calls && options->profile_paths)
        good = (run.path_workers = workers_new_of_paths(options, run.attribution, error));
    if (good && run.calls && options->names && !(run.data = data_profile_new(options->names)))
        good = error_set(error, "out of memory for data objects");
    if (good && options->graph)
        good = (run.graph = graph_breakdown_new(options, trace_isa(trace), run.attribution, error));
    if (good) {
        struct error late;
        good = options->together ? together_run(&run, error) : run_trace(&run, selector, error);
        good &= run_collect(&run, good ? error : &late);
    }
    run_free_lanes(&run); /* the samples under way go to the profiles */
    if (run.workers) {
        struct error late;
        good &= workers_finish(run.workers, simulation, good ? error : &late);
    }
    if (run.path_workers) {
        struct error late;
        good &= workers_finish_paths(run.path_workers, simulation, good ? error : &late);
    }
    if (run.graph && simulation->instructions) {
        struct error late;
        good &= graph_breakdown_finish(run.graph, simulation, good ? error : &late);
    }
    struct data_result *data = run.data ? &simulation->data : NULL;
    if (data && !data_profile_finish(run.data, trace_code(trace), data) && good)
        good = error_set(error, "out of memory for data objects");
    if (run.calls && !call_paths_finish(run.calls, trace_code(trace), &simulation->paths, data) &&
        good)
        good = error_set(error, "out of memory for call paths");
    if (run.causes && !keep_causes(run.causes, simulation) && good)
        good = error_set(error, "out of memory for the causes of stalls");
    free_cores(&run);
    if (run.total && !(simulation->cells = pics_cells(run.total, &simulation->cell_count)))
        good = error_set(error, "out of memory for the profile");
    if (simulation->slice_count)
        qsort(simulation->slices, simulation->slice_count, sizeof *simulation->slices,
              slices_in_order);
    pics_free(run.total);
    selector_free(selector);
    return good;
}

void simulation_free(struct simulation *simulation) {
    free(simulation->cells);
    free(simulation->executions);
    free(simulation->threads);
    free(simulation->slices);
    free(simulation->regions.samples);
    free(simulation->stalls);
    free(simulation->stall_events);
    for (uint32_t i = 0; i < simulation->profile_group_count; i++)
        profile_group_free(simulation->profile_groups[i]);
    free(simulation->profile_groups);
    free(simulation->profiles);
    free(simulation->path_profiles);
    commit_summary_free(&simulation->commits);
    call_path_result_free(&simulation->paths);
    data_result_free(&simulation->data);
    breakdown_free(&simulation->breakdown);
    together_result_free(&simulation->together);
    memset(simulation, 0, sizeof *simulation);
}
