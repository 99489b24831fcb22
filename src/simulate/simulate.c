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

#include "simulate/element_layout.h"
#include "simulate/run_state.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/counters.h"
#include "util/jobs.h"
#include "util/order.h"

static bool check_paths(const struct simulation_state *run) {
    const struct simulation *simulation = run->simulation;
    uint64_t units = 0, instructions = 0;
    const bool measured = run->calls && !run->options->details.paths_of_data;
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
        good &= run_finish_lane(run, lane, good ? error : &late);
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

/* The schedule's step is complete: closes the window and, between levels, weighs the profiles. */
static bool next_step(struct simulation_state *run, struct error *error) {
    struct simulation *simulation = run->simulation;
    bool good = true;
    if (run->step.action == SAMPLING_SIMULATE) {
        for (struct lane *lane = run->lanes; lane; lane = lane->next)
            good &= run_end_window(run, lane, error);
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

/* Whether the machine minds where it lies. */
static inline bool is_split(const struct memory_access *access, uint64_t line, uint64_t block) {
    const uint64_t most = access->is_store ? block : line;
    return (access->address & most) + access->size_bytes - 1 > most;
}

static bool count_splits(struct simulation_state *run, const struct trace_batch *piece,
                         struct error *error) {
    struct simulation *simulation = run->simulation;
    const struct machine *machine = run->options->machine;
    const uint64_t line = machine->l1d.line - 1, store_block = machine->core.store_block - 1;
    const uint64_t block = machine->core.store_block && store_block < line ? store_block : line;
    const struct dynamic_insn *insn = piece->insns, *end = insn + piece->insn_count;
    const uint32_t first = (uint32_t)piece->first_access;
    if (!run->options->count_splits)
        return true;
    if (!array_zeroed_room(simulation->splits, run->split_capacity, simulation->execution_count))
        return error_set(error, "out of memory for accesses over lines");
    for (uint32_t at = 0; at < piece->access_count; at++) {
        if (__builtin_expect(!is_split(&piece->accesses[at], line, block), 1))
            continue;
        while (insn < end &&
               (!insn->memory_count || insn->memory - first + insn->memory_count <= at))
            insn++;
        if (insn < end && !(insn->flags & (DYN_FAULT | DYN_REP)))
            simulation->splits[insn->insn] += run->step.weight;
    }
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
           count_executions(run, piece, error) && count_splits(run, piece, error) &&
           teach_observers(run, code, error);
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
        if (slice->position == slice->end && !run_end_slice(run, lane, error))
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

/* What was not simulated of a thread took time nevertheless, in which others go on in a cache; but
 * for what comes before anything warms or is simulated: what a core has learned is of its end. */
static void note_time(const struct simulation_state *run, uint32_t thread, uint64_t instructions) {
    struct lane *lane = run->table[thread];
    if (lane && (run->simulation->simulated || run->simulation->warmed))
        lane->not_simulated += instructions;
}

static void pass_time(struct lane *lane) {
    if (lane->not_simulated)
        core_pass(lane->core, lane->not_simulated);
    lane->not_simulated = 0;
}

/* A piece of a batch that lies within one step, and how many of it count. */
static bool run_piece(struct simulation_state *run, const struct trace_batch *piece,
                      uint32_t counted, struct error *error) {
    struct simulation *simulation = run->simulation;
    const struct code *code = trace_code(run->trace);
    simulation->executed += counted;
    const bool skipped = run->step.action == SAMPLING_SKIP;
    if (run->step.action != SAMPLING_SIMULATE)
        note_time(run, piece->thread, counted);
    if (skipped && !follows_calls(run))
        return true;
    struct lane *lane = run_lane_of(run, piece, error);
    if (!lane)
        return false;
    if (skipped)
        return call_lane_see(lane->calls, code, piece, false, error);
    pass_time(lane);
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
    note_time(run, batch->thread, batch->passed);
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

/* Whether another thread of its process was here before: both may have begun before the capture. */
static bool is_second(struct simulation_state *run, const struct trace_batch *batch) {
    if (!array_zeroed_room(run->first_threads, run->first_capacity, batch->process + (size_t)1))
        return false; /* then they are taken one by one, as without a file */
    uint32_t *first = &run->first_threads[batch->process];
    if (!*first)
        *first = batch->thread + 1;
    return *first != batch->thread + 1;
}

/* Whether the run ends here because of a thread; *good: what was kept could be ended. */
static bool meets_thread(struct simulation_state *run, const struct trace_batch *batch, bool *good,
                         struct error *error) {
    const uint64_t within = run->options->until_threads;
    if (!within || run->kept_ended)
        return false;
    if ((is_second(run, batch) || makes_thread(batch)) && trace_keeps(run->trace))
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
    if (run->options->one_thread || jobs_processors() < 2)
        return true;
    return (run->pipeline = executor_new("pipeline", error)) &&
           (run->attribution = executor_new("attribution", error));
}

/* Everything that holds simulated state; what it counted has been collected. */
static void free_cores(struct simulation_state *run) {
    run_free_lanes(run);
    workers_free(run->workers);
    workers_free(run->path_workers);
    graph_breakdown_free(run->graph);
    call_paths_free(run->calls);
    data_profile_free(run->data);
    top_down_keeper_free(run->slots);
    tap_bus_free(run->bus);
    stall_causes_free(run->causes);
    executor_free(run->pipeline);
    executor_free(run->attribution);
    golden_free(run->golden);
    free(run->first_threads);
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

/* All that observes the run. */
static bool prepare(struct simulation_state *run, struct error *error) {
    const struct simulation_options *options = run->options;
    if (!(run->total = pics_new()) || !(run->golden = golden_new()) || !(run->bus = tap_bus_new()))
        return error_set(error, "out of memory for the profile");
    if (options->machine->core.in_order && !(run->causes = stall_causes_new()))
        return error_set(error, "out of memory for the causes of stalls");
    if (!start_threads(run, error) ||
        !(run->workers = workers_new(options, run->attribution, error)))
        return false;
    if (options->details.extents &&
        !(run->calls = call_paths_new(options->details.extents, options->start.starts)))
        return error_set(error, "out of memory for call paths");
    if (run->calls && options->profile_paths &&
        !(run->path_workers = workers_new_of_paths(options, run->attribution, error)))
        return false;
    if (run->calls && options->details.names &&
        !(run->data = data_profile_new(options->details.names)))
        return error_set(error, "out of memory for data objects");
    if (options->details.top_down && !top_down_missing(options->machine, options->ideal) &&
        !(run->slots = top_down_keeper_new(options->machine, options->ideal, run->attribution)))
        return error_set(error, "out of memory for levels");
    if (options->series && !(run->simulation->series = time_series_new(options->together != NULL)))
        return error_set(error, "out of memory for the run in time");
    return !options->graph || (run->graph = graph_breakdown_new(options, trace_isa(run->trace),
                                                                run->attribution, error));
}

/* It is of runs that were simulated in full. */
static bool keep_series(struct simulation *simulation, struct error *error) {
    if (!simulation->series)
        return true;
    const bool whole = time_series_is_whole(simulation->series);
    if (!whole || simulation->simulated < simulation->executed) {
        time_series_free(simulation->series);
        simulation->series = NULL;
    }
    return whole || error_set(error, "out of memory for the run in time");
}

/* What they saw becomes part of the simulation; also after a failure, as far as it was seen. */
static bool finish(struct simulation_state *run, struct error *error) {
    struct simulation *simulation = run->simulation;
    const struct code *code = trace_code(run->trace);
    struct data_result *data = run->data ? &simulation->data : NULL;
    struct error late;
    bool good = true;
    run_free_lanes(run); /* the samples under way go to the profiles */
    if (run->workers)
        good &= workers_finish(run->workers, simulation, error);
    if (run->path_workers)
        good &= workers_finish_paths(run->path_workers, simulation, good ? error : &late);
    if (run->graph && simulation->instructions)
        good &= graph_breakdown_finish(run->graph, simulation, good ? error : &late);
    if (run->slots)
        good &= top_down_keeper_finish(run->slots, simulation, good ? error : &late);
    if (data && !data_profile_finish(run->data, code, data) && good)
        good = error_set(error, "out of memory for data objects");
    if (run->calls && !call_paths_finish(run->calls, code, &simulation->paths, data) && good)
        good = error_set(error, "out of memory for call paths");
    if (run->causes && !keep_causes(run->causes, simulation) && good)
        good = error_set(error, "out of memory for the causes of stalls");
    free_cores(run);
    good = keep_series(simulation, good ? error : &late) && good;
    if (run->total && !(simulation->cells = pics_cells(run->total, &simulation->cell_count)) &&
        good)
        good = error_set(error, "out of memory for the profile");
    if (simulation->slice_count)
        qsort(simulation->slices, simulation->slice_count, sizeof *simulation->slices,
              slices_in_order);
    pics_free(run->total);
    return good;
}

bool simulation_run(struct trace *trace, const struct simulation_options *options,
                    struct simulation *simulation, struct error *error) {
    memset(simulation, 0, sizeof *simulation);
    struct simulation_state run = {
        .options = options, .simulation = simulation, .trace = trace, .started = clock_monotonic()};
    struct selector *selector = NULL;
    struct error late;
    run.step = sampling_step(&options->sampling, 0);
    bool good = (selection_is_everything(&options->selection) ||
                 (selector = selector_new(&options->selection, error))) &&
                prepare(&run, error);
    if (good) {
        good = options->together ? together_run(&run, error) : run_trace(&run, selector, error);
        good &= run_collect(&run, good ? error : &late);
    }
    good &= finish(&run, good ? error : &late);
    selector_free(selector);
    return good;
}

void simulation_free(struct simulation *simulation) {
    free(simulation->cells);
    free(simulation->slots);
    free(simulation->executions);
    free(simulation->splits);
    free(simulation->threads);
    free(simulation->slices);
    free(simulation->regions.samples);
    free(simulation->regions.phases);
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
    time_series_free(simulation->series);
    memset(simulation, 0, sizeof *simulation);
}
