/* One region of a queue: two passes over its trace, of which the first warms and the second
 * simulates. What is learned takes many pages of memory, which the next region uses again. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "simulate/combination.h"
#include "simulate/data_sum.h"
#include "simulate/path_sum.h"
#include "simulate/region_result.h"
#include "simulate/region_run.h"
#include "simulate/warming.h"
#include "trace/code_union.h"
#include "trace/event.h"

/* A pass over instructions [from, to) of a region's trace. */
struct job {
    struct region_run *run;
    struct task *task;
    uint64_t from, to;
    uint64_t told; /* instructions that the run's sum has */
};

static void tell_progress(void *context, uint64_t instructions) {
    struct job *job = context;
    struct region_run *run = job->run;
    uint64_t reached = instructions < job->to ? instructions : job->to;
    uint64_t now = reached > job->from ? reached - job->from : 0;
    if (now == job->told || (now - job->told < 1000000 && reached < job->to))
        return;
    pthread_mutex_lock(&run->lock);
    run->instructions += now - job->told;
    job->told = now;
    watcher_tell(&run->options.watcher, run->instructions);
    pthread_mutex_unlock(&run->lock);
}

static bool check_trace(const struct region_run *run, const struct trace *trace,
                        struct error *error) {
    if (trace_isa(trace) != run->options.isa)
        return error_set(error, "its program is of another architecture than the list of regions");
    return trace_has_addresses(trace) ||
           error_set(error, "no memory addresses are in it, so it cannot be simulated");
}

static bool record_region(struct task *task, const struct simulation *simulation) {
    struct slice_record *record = &task->record;
    if (!(task->units = calloc(PSV_COMBINATIONS, sizeof *task->units)))
        return false;
    for (uint64_t i = 0; i < simulation->cell_count; i++)
        task->units[simulation->cells[i].psv] += simulation->cells[i].units;
    *record = (struct slice_record){.process = task->region.process,
                                    .thread = task->region.thread,
                                    .first = task->region.start,
                                    .instructions = simulation->instructions,
                                    .cycles = simulation->cycles,
                                    .counted = simulation->counted};
    memcpy(record->states, simulation->states, sizeof record->states);
    parts_of(task->units, record->parts);
    task->warmed = simulation->warmed;
    return task->done = true;
}

/* Calls are those of the whole run, once all is known of it. */
static void keep_region(const struct region_run *run, const struct region_trace *region,
                        struct simulation *simulation, const struct code *code) {
    const struct call_path_result paths = simulation->paths;
    if (!run->options.keep)
        return;
    simulation->paths = (struct call_path_result){0};
    run->options.keep(run->options.keep_context, region, simulation, code);
    simulation->paths = paths;
}

bool region_number_paths(struct region_run *run, struct simulation *simulation,
                         const struct code *code, const uint32_t *numbers, uint32_t thread,
                         struct error *error) {
    const struct stack_starts *starts = run->options.starts;
    const struct code *base = starts ? stack_starts_code(starts) : NULL;
    return (!simulation->paths.function_count ||
            path_result_renumber(&simulation->paths, run->code, code, numbers, base, thread,
                                 error)) &&
           data_result_renumber(&simulation->data, run->code, code, base, error);
}

/* Under the lock. */
static bool add_region(struct region_run *run, struct task *task, const struct code *code,
                       struct simulation *simulation, struct error *error) {
    const struct region_trace *region = &task->region;
    uint32_t *numbers = malloc((code->insn_count ? code->insn_count : 1) * sizeof *numbers);
    if (!numbers || !record_region(task, simulation)) {
        free(numbers);
        return error_set(error, "out of memory for the profile");
    }
    pthread_cond_broadcast(&run->changed); /* who waits for what it took */
    keep_region(run, region, simulation, code);
    bool good = code_union_add(run->code, code, numbers, error) &&
                region_number_paths(run, simulation, code, numbers, region->thread, error);
    if (good && run->options.reweighted) {
        task->part = *simulation;
        task->numbers = numbers;
        *simulation = (struct simulation){0};
        return true;
    }
    good =
        good && combination_add(run->combination, simulation, numbers, code_union_code(run->code),
                                region->process, region->thread, region->stands_for, error);
    free(numbers);
    return good;
}

/* Memory of caches takes many pages, which are used again. */
static void give_room(struct region_run *run, struct core_learned *room) {
    if (!room->memory)
        return;
    pthread_mutex_lock(&run->lock);
    const struct core_learned other = run->room;
    run->room = *room;
    pthread_mutex_unlock(&run->lock);
    *room = other;
    core_learned_free(room);
}

static struct core_learned take_room(struct region_run *run) {
    pthread_mutex_lock(&run->lock);
    const struct core_learned room = run->room;
    run->room = (struct core_learned){NULL, NULL};
    pthread_mutex_unlock(&run->lock);
    return room;
}

/* A fault that ended the program did so within its last block, which the capture counted to its
 * end. */
static bool ends_within_block(uint64_t simulated, uint64_t length) {
    return simulated && simulated < length && length - simulated < EVENT_MAX_BLOCK_INSNS;
}

static bool simulate_trace(struct job *job, struct trace *trace, struct error *error) {
    struct region_run *run = job->run;
    const struct region_trace *region = &job->task->region;
    struct instruction_observer observers[INSTRUCTION_OBSERVERS];
    for (uint32_t i = 0; i < run->options.instruction_observer_count; i++) {
        observers[i] = run->options.instructions[i];
        observers[i].weight *= (double)region->stands_for / (double)(region->end - region->start);
    }
    struct simulation_options options = {.machine = run->options.machine,
                                         .ideal = run->options.ideal,
                                         .sampling = sampling_region(region->start, region->end, 0),
                                         .selection = {.thread = -1},
                                         .graph = run->options.graph,
                                         .details = run->options.details,
                                         .start = {run->options.starts, region->begins, 0},
                                         .instructions = observers,
                                         .instruction_observer_count =
                                             run->options.instruction_observer_count,
                                         .count_splits = run->options.count_splits,
                                         .watcher = {tell_progress, job, run->options.watcher.stop},
                                         .learned = &job->task->start,
                                         .one_thread = run->crowded};
    struct simulation simulation;
    bool good = simulation_run(trace, &options, &simulation, error);
    give_room(run, &job->task->start); /* what is left of it */
    branch_outcomes_free(&job->task->outcomes);
    simulation.warmed = region->warm;
    if (good && !simulation.interrupted) {
        uint64_t length = region->end - region->start;
        if (simulation.simulated != length && !ends_within_block(simulation.simulated, length))
            good = error_set(error,
                             "it ends %" PRIu64 " instructions early (%" PRIu64
                             " from instruction %" PRIu64 " on were to be simulated)",
                             length - simulation.simulated, length, region->start);
        trace_settle(trace);
        pthread_mutex_lock(&run->lock);
        good = good && add_region(run, job->task, trace_code(trace), &simulation, error);
        pthread_mutex_unlock(&run->lock);
    }
    simulation_free(&simulation);
    return good;
}

/* Of what warms a region where others use the last level too: that of regions which are surely done
 * by then, however fast the threads are, or of the first one, which the next ones wait for. Before
 * that one, and where nobody asks: 1. */
static double cycles_per_instruction(struct region_run *run, const struct task *task) {
    const size_t ahead = REGIONS_AHEAD;
    uint64_t instructions = 0, cycles = 0;
    if (!run->options.machine->llc.retention)
        return 1;
    if (task->region.cycles_per_instruction > 0)
        return task->region.cycles_per_instruction;
    pthread_mutex_lock(&run->lock);
    const size_t known = run->options.chained && run->warmed > ahead ? run->warmed - ahead : 1;
    while (task != run->tasks[0] && !run->tasks[0]->done && !region_run_stopped(run))
        pthread_cond_wait(&run->changed, &run->lock);
    for (size_t i = 0; i < known; i++) {
        instructions += run->tasks[i]->record.instructions;
        cycles += run->tasks[i]->record.cycles;
    }
    pthread_mutex_unlock(&run->lock);
    return instructions ? (double)cycles / (double)instructions : 1;
}

/* Instructions between the region before and what warms this one, of one thread. */
static uint64_t skipped(const struct region_run *run, const struct region_trace *region) {
    const uint64_t from = region->first - region->warm;
    const bool goes_on = run->options.chained && run->learned.memory &&
                         run->learned_process == region->process &&
                         run->learned_thread == region->thread && region->warm <= region->first;
    return goes_on && from > run->learned_to ? from - run->learned_to : 0;
}

static bool warm_trace(struct job *job, struct trace *trace, struct error *error) {
    struct region_run *run = job->run;
    const struct region_trace *region = &job->task->region;
    struct core_learned room = take_room(run);
    const struct warming warming = {.machine = run->options.machine,
                                    .ideal = run->options.ideal,
                                    .start = region->start,
                                    .end = region->end,
                                    .warm = region->warm,
                                    .trained = !region->stamped       ? UINT64_MAX
                                               : run->options.chained ? WARMING_TRAINED_ON
                                                                      : WARMING_TRAINED,
                                    .shown = !region->stamped       ? UINT64_MAX
                                             : run->options.chained ? WARMING_SHOWN_ON
                                                                    : WARMING_TRAINED,
                                    .cycles_per_instruction =
                                        cycles_per_instruction(run, job->task),
                                    .skipped = skipped(run, region),
                                    .stamped = region->is_stamped ? &region->before : NULL,
                                    .only = region->only,
                                    .go_on = run->options.chained,
                                    .room = &room,
                                    .outcomes = &job->task->outcomes,
                                    .watcher = {tell_progress, job, run->options.watcher.stop}};
    struct core_learned nothing = {NULL, NULL};
    /* Other code and data at the same addresses. */
    if (run->options.chained && run->learned_process != region->process)
        core_learned_free(&run->learned);
    if (run->options.chained) {
        run->learned_process = region->process;
        run->learned_thread = region->thread;
        run->learned_to = region->first + (region->end - region->start);
    }
    bool good = warming_run(trace, &warming, run->options.chained ? &run->learned : &nothing,
                            &job->task->start, error);
    core_learned_free(&nothing);
    give_room(run, &room);
    return good;
}

/* Calls that a region begins with are followed through what comes before it, unless they are known
 * from elsewhere. */
static bool is_read_from_start(const struct region_run *run) {
    return run->options.details.extents && !run->options.starts;
}

static struct trace *open_trace(const struct job *job, struct error *error) {
    struct task *task = job->task;
    const struct region_trace *region = &task->region;
    if (region->stream)
        return region_stream_open(region->stream, error);
    if (region->result || is_read_from_start(job->run))
        return trace_open(region->path, error);
    if (!task->file)
        task->file = trace_twice_new(region->path, region->only, region->start, error);
    return task->file ? trace_twice_open(task->file, error) : NULL;
}

/* One pass over the region's trace. */
static bool pass(struct job *job, bool (*over)(struct job *job, struct trace *, struct error *),
                 struct error *error) {
    const struct region_trace *region = &job->task->region;
    struct trace *trace = open_trace(job, error);
    if (trace && region->only >= 0)
        trace_only(trace, (uint32_t)region->only);
    bool good = trace && check_trace(job->run, trace, error) && over(job, trace, error);
    if (trace)
        trace_close(trace);
    return good || error_prefix(error, "%s: %s", region->name, region->path);
}

bool region_warm(struct region_run *run, struct task *task, struct error *error) {
    const struct region_trace *region = &task->region;
    const uint64_t in_trace = region->warm < region->start ? region->warm : region->start;
    struct job job = {
        .run = run, .task = task, .from = region->start - in_trace, .to = region->start};
    pthread_mutex_lock(&run->lock);
    run->instructions += region->warm - in_trace; /* that were stamped */
    pthread_mutex_unlock(&run->lock);
    return pass(&job, warm_trace, error);
}

/* ---- a region that was simulated elsewhere ---- */

/* As much of its code as there was then, which its trace tells. */
static bool read_code(struct trace *trace, const struct region_code_extent *extent,
                      struct error *error) {
    const struct code *code = trace_code(trace);
    struct trace_batch batch;
    int status = 1;
    while ((code->insn_count < extent->insns || code->image_count < extent->images ||
            code->python_count < extent->python || code->mapping_count < extent->mappings) &&
           (status = trace_next(trace, &batch, error)) > 0)
        ;
    return status > 0 ||
           (status == 0 && error_set(error, "it holds less code than when it was simulated"));
}

static bool recall_trace(struct job *job, struct trace *trace, struct error *error) {
    struct region_run *run = job->run;
    struct simulation simulation;
    struct region_code_extent extent;
    bool good = region_result_read(job->task->region.result, &simulation, &extent, error) &&
                read_code(trace, &extent, error);
    if (good) {
        trace_settle(trace);
        const struct code code = region_code_at(trace_code(trace), &extent);
        pthread_mutex_lock(&run->lock);
        good = add_region(run, job->task, &code, &simulation, error);
        pthread_mutex_unlock(&run->lock);
    }
    simulation_free(&simulation);
    return good;
}

bool region_simulate(struct region_run *run, struct task *task, struct error *error) {
    struct region_trace *region = &task->region;
    struct job job = {.run = run, .task = task};
    if (region->result)
        return pass(&job, recall_trace, error);
    if (!task->warm && !region_warm(run, task, error))
        return false;
    job.from = region->start;
    job.to = region->end;
    const bool good = pass(&job, simulate_trace, error);
    region_stream_leave(region->stream);
    region->stream = NULL;
    trace_twice_free(task->file);
    task->file = NULL;
    return good;
}
