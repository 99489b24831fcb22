/* Guest threads and their cores: made when a thread's first batch comes, with all that observes
 * them, and collected where a window, a slice, the thread or the run ends. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "simulate/run_state.h"
#include "util/array.h"
#include "util/counters.h"

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
    top_down_free(lane->slots);
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
         !call_lane_begin(lane->calls, trace_code(run->trace), start->start, run->data,
                          lane->source.process)))
        return error_set(error, "out of memory for call paths");
    bool good = true;
    if (run->path_workers)
        lane->followers = workers_follow(run->path_workers, lane->calls, &good, error);
    if (!good)
        return false;
    struct tap_worker worker = call_lane_worker(lane->calls);
    worker.executor = run->attribution;
    if (run->options->details.paths_of_data)
        call_lane_unwatch(lane->calls);
    else if (!tap_add_worker(lane->tap, &worker, error))
        return false;
    return !run->data || attach_data(run, lane, error);
}

static bool attach_series(const struct simulation_state *run, const struct lane *lane,
                          struct error *error) {
    struct time_series *series = run->simulation->series;
    struct series_thread *thread =
        series ? series_thread(series, lane->source.process, lane->source.thread) : NULL;
    if (!thread)
        return true;
    struct tap_worker worker = series_worker(thread);
    worker.executor = run->attribution;
    return tap_add_worker(lane->tap, &worker, error);
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
    if (good && run->slots)
        good = (lane->slots = top_down_keeper_attach(run->slots, lane->tap, error));
    if (!good || !attach_calls(run, lane, error) || !attach_series(run, lane, error) ||
        !attach_observers(run, lane, error) ||
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

bool run_end_window(struct simulation_state *run, struct lane *lane, struct error *error) {
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
bool run_end_slice(struct simulation_state *run, struct lane *lane, struct error *error) {
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
    bool good = run_end_window(run, lane, error);
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
bool run_finish_lane(struct simulation_state *run, struct lane *lane, struct error *error) {
    struct error late;
    bool good = run_end_slice(run, lane, error);
    good &= run_end_window(run, lane, good ? error : &late);
    good &= core_finish(lane->core, good ? error : &late);
    if (lane->graph)
        graph_lane_collect(lane->graph, run->step.weight);
    for (uint32_t i = 0; i < run->options->instruction_observer_count; i++) {
        const struct instruction_observer *observer = &run->options->instructions[i];
        good &=
            observer->collect(observer->context, lane->instructions[i],
                              observer->weight * (double)run->step.weight, good ? error : &late);
    }
    if (lane->slots && !top_down_keeper_collect(run->slots, lane->slots, run->step.weight) && good)
        good = error_set(error, "out of memory for levels");
    if (lane->causes && !stall_causes_move(run->causes, lane->causes, run->step.weight) && good)
        good = error_set(error, "out of memory for the causes of stalls");
    return collect_slices(run, &lane->slice, good ? error : &late) && good;
}

/* Slots up to there have a class before it is known that those from there on have none. */
bool run_lane_wait_until(const struct lane *lane, uint64_t cycle, struct error *error) {
    if (lane->slots) {
        if (!core_finish(lane->core, error))
            return false;
        if (!top_down_finish(lane->slots))
            return error_set(error, "out of memory for levels");
        top_down_wait_until(lane->slots, cycle);
    }
    core_wait_until(lane->core, cycle);
    return true;
}

bool run_lane_end(struct simulation_state *run, uint32_t thread, struct error *error) {
    assert(run->table); /* as in run_lane_of() */
    struct lane *lane = run->table[thread];
    if (!lane)
        return true;
    bool good = run_finish_lane(run, lane, error);
    run->table[thread] = NULL;
    struct lane **link = &run->lanes;
    while (*link && *link != lane)
        link = &(*link)->next;
    *link = lane->next;
    lane_free(run, lane);
    return good;
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
