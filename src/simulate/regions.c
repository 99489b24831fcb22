/* A queue of regions and the threads that take from it, under one lock. A region is warmed, then
 * simulated; when regions are chained, by two threads, of which the first is at most a region or
 * two ahead, since what is learned takes memory. A thread that is done with a region adds it to the
 * sum, which is a matter of milliseconds, so that no more than `jobs` simulations are in memory.
 * Numbers of instructions depend on the order in which traces come, so they are sorted by place at
 * the end. */
#include "simulate/regions.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "simulate/combination.h"
#include "simulate/data_sum.h"
#include "simulate/path_sum.h"
#include "simulate/warming.h"
#include "trace/code_union.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/order.h"

struct task {
    struct region_trace region; /* name and path are its own */
    bool warm;                  /* `start` is what is known at its start */
    struct core_learned start;
    bool done;
    uint64_t warmed;
    struct slice_record record;
    uint64_t *units;        /* by performance signature */
    struct simulation part; /* when what it stands for may change; its instructions are numbered */
    uint32_t *numbers;      /* in the union by these; NULL: nothing is kept */
};

struct region_run {
    struct region_run_options options;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* there are more tasks, or no more will come */
    struct task **tasks;
    size_t task_count, task_capacity, taken;
    size_t warmed;  /* tasks, when chained */
    bool complete;  /* no more will come */
    bool abandoned; /* nothing more is begun */
    bool failed;
    struct error error; /* of the first that failed */
    uint64_t instructions;
    double started;
    struct code_union *code;
    struct code_symbol *symbols; /* of the code of regions, until it is named; names in the arena */
    size_t symbol_count;
    struct arena names;
    struct combination *combination;
    struct core_learned learned; /* by the regions warmed so far, of one program, when chained */
    uint32_t learned_process;
    struct core_learned room; /* of a region that was simulated, for another */
    uint32_t parts;           /* simulations added as such */
    uint32_t levels;
    struct sampling_spread spread; /* of them */
    pthread_t *threads;
    uint32_t thread_count;
    bool crowded; /* no processors are left for simulations to use more threads */
};

enum { AHEAD = 2 }; /* regions that are warm already */

/* ---- one region ---- */

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

static bool number_paths(struct region_run *run, struct simulation *simulation,
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
    keep_region(run, region, simulation, code);
    bool good = code_union_add(run->code, code, numbers, error) &&
                number_paths(run, simulation, code, numbers, region->thread, error);
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
                                         .watcher = {tell_progress, job, run->options.watcher.stop},
                                         .learned = &job->task->start,
                                         .one_thread = run->crowded};
    struct simulation simulation;
    bool good = simulation_run(trace, &options, &simulation, error);
    give_room(run, &job->task->start); /* what is left of it */
    simulation.warmed = region->warm;
    if (good && !simulation.interrupted) {
        uint64_t length = region->end - region->start;
        if (simulation.simulated != length)
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
                                    .only = region->only,
                                    .go_on = run->options.chained,
                                    .room = &room,
                                    .watcher = {tell_progress, job, run->options.watcher.stop}};
    struct core_learned nothing = {NULL, NULL};
    /* Other code and data at the same addresses. */
    if (run->options.chained && run->learned_process != region->process)
        core_learned_free(&run->learned);
    if (run->options.chained)
        run->learned_process = region->process;
    bool good = warming_run(trace, &warming, run->options.chained ? &run->learned : &nothing,
                            &job->task->start, error);
    core_learned_free(&nothing);
    give_room(run, &room);
    return good;
}

static struct trace *open_trace(const struct region_trace *region, struct error *error) {
    return region->stream ? region_stream_open(region->stream, error)
                          : trace_open(region->path, error);
}

/* One pass over the region's trace. */
static bool pass(struct job *job, bool (*over)(struct job *job, struct trace *, struct error *),
                 struct error *error) {
    const struct region_trace *region = &job->task->region;
    struct trace *trace = open_trace(region, error);
    if (trace && region->only >= 0)
        trace_only(trace, (uint32_t)region->only);
    bool good = trace && check_trace(job->run, trace, error) && over(job, trace, error);
    if (trace)
        trace_close(trace);
    return good || error_prefix(error, "%s: %s", region->name, region->path);
}

static bool warm_region(struct region_run *run, struct task *task, struct error *error) {
    const struct region_trace *region = &task->region;
    struct job job = {
        .run = run, .task = task, .from = region->start - region->warm, .to = region->start};
    return pass(&job, warm_trace, error);
}

/* What was read of a stream is gone. */
static void move_back(struct region_trace *region) {
    const uint64_t gone = region->stream ? region_stream_gone(region->stream) : 0;
    region->start -= gone;
    region->end -= gone;
}

static void leave_stream(struct region_trace *region) {
    region_stream_leave(region->stream);
    region->stream = NULL;
}

static bool simulate_region(struct region_run *run, struct task *task, struct error *error) {
    struct region_trace *region = &task->region;
    if (!task->warm && !warm_region(run, task, error))
        return false;
    move_back(region);
    struct job job = {.run = run, .task = task, .from = region->start, .to = region->end};
    const bool good = pass(&job, simulate_trace, error);
    leave_stream(region);
    return good;
}

/* ---- threads ---- */

static bool stopped(const struct region_run *run) {
    return run->failed || run->abandoned || watcher_stops(&run->options.watcher);
}

static size_t ready(const struct region_run *run) {
    return run->options.chained ? run->warmed : run->task_count;
}

/* Waits for the next task to simulate; NULL: there will be none. */
static struct task *take_task(struct region_run *run) {
    struct task *task = NULL;
    pthread_mutex_lock(&run->lock);
    while (!stopped(run) && run->taken == ready(run) &&
           !(run->complete && run->taken == run->task_count))
        pthread_cond_wait(&run->changed, &run->lock);
    if (!stopped(run) && run->taken < ready(run))
        task = run->tasks[run->taken++];
    pthread_cond_broadcast(&run->changed);
    pthread_mutex_unlock(&run->lock);
    return task;
}

/* Likewise to warm. */
static struct task *next_to_warm(struct region_run *run) {
    struct task *task = NULL;
    pthread_mutex_lock(&run->lock);
    while (!stopped(run) &&
           (run->warmed == run->task_count ? !run->complete : run->warmed >= run->taken + AHEAD))
        pthread_cond_wait(&run->changed, &run->lock);
    if (!stopped(run) && run->warmed < run->task_count)
        task = run->tasks[run->warmed];
    pthread_mutex_unlock(&run->lock);
    return task;
}

static void fail(struct region_run *run, const struct error *error) {
    pthread_mutex_lock(&run->lock);
    if (!run->failed)
        run->error = *error;
    run->failed = true;
    pthread_cond_broadcast(&run->changed);
    pthread_mutex_unlock(&run->lock);
}

static void *work(void *context) {
    struct region_run *run = context;
    struct task *task;
    pthread_setname_np(pthread_self(), "regions");
    while ((task = take_task(run))) {
        struct error error;
        if (!simulate_region(run, task, &error))
            fail(run, &error);
    }
    return NULL;
}

/* Also when it was stopped: whoever waits for it is to see that. */
static void *warm(void *context) {
    struct region_run *run = context;
    struct task *task;
    pthread_setname_np(pthread_self(), "warming");
    while ((task = next_to_warm(run))) {
        struct error error;
        if (!warm_region(run, task, &error)) {
            fail(run, &error);
            continue;
        }
        pthread_mutex_lock(&run->lock);
        task->warm = true;
        run->warmed++;
        pthread_cond_broadcast(&run->changed);
        pthread_mutex_unlock(&run->lock);
    }
    pthread_mutex_lock(&run->lock);
    pthread_cond_broadcast(&run->changed);
    pthread_mutex_unlock(&run->lock);
    return NULL;
}

static bool start_threads(struct region_run *run, struct error *error) {
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t jobs = run->options.chained ? 1
                    : run->options.jobs  ? run->options.jobs
                    : processors > 1     ? (uint32_t)processors
                                         : 1;
    run->crowded = 2 * (long)jobs > processors;
    if (!(run->threads = calloc(jobs + 1, sizeof *run->threads)))
        return error_set(error, "out of memory for threads");
    if (run->options.chained) {
        if (pthread_create(&run->threads[0], NULL, warm, run) != 0)
            return error_set(error, "cannot start a thread");
        run->thread_count++;
        jobs++;
    }
    const uint32_t others = run->thread_count;
    for (; run->thread_count < jobs; run->thread_count++)
        if (pthread_create(&run->threads[run->thread_count], NULL, work, run) != 0)
            return run->thread_count > others || error_set(error, "cannot start a thread");
    return true;
}

/* Those that run end with what they do; nothing more is taken when `complete` is not set. */
static void end_threads(struct region_run *run) {
    pthread_mutex_lock(&run->lock);
    run->complete = true;
    pthread_cond_broadcast(&run->changed);
    pthread_mutex_unlock(&run->lock);
    for (uint32_t i = 0; i < run->thread_count; i++)
        pthread_join(run->threads[i], NULL);
    run->thread_count = 0;
}

/* ---- the door ---- */

struct region_run *region_run_new(const struct region_run_options *options, struct error *error) {
    struct region_run *run = calloc(1, sizeof *run);
    if (!run)
        return error_null(error, "out of memory for regions");
    run->options = *options;
    run->started = clock_monotonic();
    pthread_mutex_init(&run->lock, NULL);
    pthread_cond_init(&run->changed, NULL);
    bool good =
        (run->code = code_union_new(options->isa)) && (run->combination = combination_new());
    if (!good)
        error_set(error, "out of memory for regions");
    if (good && start_threads(run, error))
        return run;
    region_run_free(run);
    return NULL;
}

static void free_task(struct task *task) {
    if (!task)
        return;
    leave_stream(&task->region);
    free((char *)task->region.name);
    free((char *)task->region.path);
    simulation_free(&task->part);
    core_learned_free(&task->start);
    free(task->units);
    free(task->numbers);
    free(task);
}

void region_run_free(struct region_run *run) {
    if (!run)
        return;
    pthread_mutex_lock(&run->lock);
    run->abandoned = true;
    pthread_mutex_unlock(&run->lock);
    end_threads(run);
    for (size_t i = 0; i < run->task_count; i++)
        free_task(run->tasks[i]);
    free(run->tasks);
    free(run->threads);
    core_learned_free(&run->learned);
    core_learned_free(&run->room);
    code_union_free(run->code);
    free(run->symbols);
    arena_free(&run->names);
    combination_free(run->combination);
    pthread_mutex_destroy(&run->lock);
    pthread_cond_destroy(&run->changed);
    free(run);
}

static struct task *new_task(const struct region_trace *region) {
    struct task *task = calloc(1, sizeof *task);
    if (!task) {
        region_stream_leave(region->stream);
        return NULL;
    }
    task->region = *region;
    if (region->warm > region->start)
        task->region.warm = region->start;
    task->region.name = strdup(region->name);
    task->region.path = strdup(region->path);
    if (task->region.name && task->region.path)
        return task;
    free_task(task);
    return NULL;
}

bool region_run_failed(struct region_run *run) {
    pthread_mutex_lock(&run->lock);
    const bool failed = run->failed;
    pthread_mutex_unlock(&run->lock);
    return failed;
}

bool region_run_add(struct region_run *run, const struct region_trace *region,
                    struct error *error) {
    struct task *task = new_task(region);
    if (region->start >= region->end) {
        free_task(task);
        return error_set(error, "%s: %s: it has no instructions", region->name, region->path);
    }
    pthread_mutex_lock(&run->lock);
    bool good = task && array_reserve((void **)&run->tasks, &run->task_capacity,
                                      run->task_count + 1, sizeof(struct task *));
    if (!good)
        error_set(error, "out of memory for regions");
    if (good && run->failed) {
        *error = run->error;
        good = false;
    }
    if (good)
        run->tasks[run->task_count++] = task;
    pthread_cond_broadcast(&run->changed);
    pthread_mutex_unlock(&run->lock);
    if (!good)
        free_task(task);
    return good;
}

void region_run_reweigh(struct region_run *run, size_t index, uint64_t stands_for) {
    pthread_mutex_lock(&run->lock);
    run->tasks[index]->region.stands_for = stands_for;
    pthread_mutex_unlock(&run->lock);
}

bool region_run_name(struct region_run *run, const struct code_symbol *symbols, size_t count,
                     struct error *error) {
    run->symbols = calloc(count + 1, sizeof *run->symbols);
    bool good = run->symbols;
    for (size_t i = 0; good && i < count; i++) {
        const char *name = arena_copy(&run->names, symbols[i].name, strlen(symbols[i].name));
        run->symbols[run->symbol_count++] =
            (struct code_symbol){symbols[i].start, symbols[i].size, name};
        good = name;
    }
    return good || error_set(error, "out of memory for the names of code");
}

/* When all regions' code is there, and before that of other runs, where the same addresses may mean
 * something else. */
static bool name_code(struct region_run *run, struct error *error) {
    size_t count = run->symbol_count;
    run->symbol_count = 0;
    return !count ||
           (region_run_wait(run, error) && code_union_name(run->code, run->symbols, count, error));
}

bool region_run_add_simulation(struct region_run *run, struct simulation *simulation,
                               const struct code *code, struct error *error) {
    uint32_t *numbers = malloc((code->insn_count ? code->insn_count : 1) * sizeof *numbers);
    if (!numbers)
        return error_set(error, "out of memory for the profile");
    if (!name_code(run, error)) {
        free(numbers);
        return false;
    }
    pthread_mutex_lock(&run->lock);
    bool good = code_union_add(run->code, code, numbers, error) &&
                number_paths(run, simulation, code, numbers, PATH_NONE, error) &&
                combination_add(run->combination, simulation, numbers, code_union_code(run->code),
                                0, 0, simulation->executed, error);
    sampling_spread_add(&run->spread, &simulation->spread);
    if (simulation->levels > run->levels)
        run->levels = simulation->levels;
    run->parts++;
    pthread_mutex_unlock(&run->lock);
    free(numbers);
    return good;
}

bool region_run_wait(struct region_run *run, struct error *error) {
    end_threads(run);
    if (run->failed)
        *error = run->error;
    return !run->failed;
}

static uint32_t count_done(const struct region_run *run) {
    return sum_over(uint32_t, i, run->task_count, run->tasks[i]->done);
}

/* The regions that were kept. */
static bool combine_kept(struct region_run *run, struct error *error) {
    bool good = true;
    for (size_t i = 0; good && i < run->task_count; i++) {
        struct task *task = run->tasks[i];
        if (!task->numbers)
            continue;
        good = combination_add(run->combination, &task->part, task->numbers,
                               code_union_code(run->code), task->region.process,
                               task->region.thread, task->region.stands_for, error);
        simulation_free(&task->part);
        task->part = (struct simulation){0};
    }
    return good;
}

static int by_place(const void *left, const void *right) {
    const struct task *a = *(struct task *const *)left, *b = *(struct task *const *)right;
    return ascending(a->region.thread, b->region.thread)
               ?: ascending(a->region.first, b->region.first);
}

/* What the regions took, for the error of the estimate; all of them are done. */
static bool take_samples(const struct region_run *run, struct simulation *result) {
    const size_t count = run->task_count;
    struct task **order = malloc((count + 1) * sizeof *order);
    struct region_sample *samples = calloc(count + 1, sizeof *samples);
    for (size_t i = 0; order && i < count; i++)
        order[i] = run->tasks[i];
    if (order)
        qsort(order, count, sizeof *order, by_place);
    for (size_t i = 0; order && samples && i < count; i++) {
        const struct task *task = order[i];
        samples[i] = (struct region_sample){.cluster = task->region.cluster,
                                            .thread = task->region.thread,
                                            .first = task->region.first,
                                            .instructions = task->record.instructions,
                                            .stands_for = task->region.stands_for,
                                            .cycles = task->record.cycles};
        memcpy(samples[i].states, task->record.states, sizeof samples[i].states);
        memcpy(samples[i].units, task->units, sizeof samples[i].units);
    }
    const bool good = order && samples;
    free(order);
    if (!good)
        free(samples);
    result->regions.samples = good ? samples : NULL;
    return good;
}

bool region_run_finish(struct region_run *run, uint64_t instructions, struct simulation *result,
                       struct error *error) {
    memset(result, 0, sizeof *result);
    if (!region_run_wait(run, error) || !name_code(run, error) || !combine_kept(run, error))
        return false;
    result->regions.simulated = count_done(run);
    result->regions.count = (uint32_t)run->task_count;
    if (!result->regions.simulated && !run->parts)
        return error_set(error, run->task_count ? "interrupted before any region was simulated"
                                : watcher_stops(&run->options.watcher)
                                    ? "interrupted before any region was captured"
                                    : "there is no region to simulate");
    uint32_t count = code_union_code(run->code)->insn_count;
    uint32_t *order = malloc((count ? count : 1) * sizeof *order);
    if (!order)
        return error_set(error, "out of memory for the profile");
    struct simulation_regions regions = result->regions;
    bool good = code_union_sort(run->code, order, error) &&
                combination_finish(run->combination, instructions, run->code, order, result, error);
    result->regions = regions;
    if (good && run->task_count && regions.simulated == regions.count && !take_samples(run, result))
        good = error_set(error, "out of memory for the profile");
    result->levels = run->levels;
    result->spread = run->spread;
    result->interrupted = regions.simulated < regions.count;
    result->seconds = clock_monotonic() - run->started;
    free(order);
    return good;
}

const struct code *region_run_code(const struct region_run *run) {
    return code_union_code(run->code);
}

const struct slice_record *region_run_record(const struct region_run *run, size_t index,
                                             uint64_t *warmed) {
    const struct task *task = run->tasks[index];
    *warmed = task->warmed;
    return task->done ? &task->record : NULL;
}
