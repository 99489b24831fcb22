/* A queue of regions and the threads that take from it, under one lock. A region is warmed, then
 * simulated; when regions are chained, by two threads, of which the first is at most a region or
 * two ahead, since what is learned takes memory. A thread that is done with a region adds it to the
 * sum, which is a matter of milliseconds, so that no more than `jobs` simulations are in memory.
 * Numbers of instructions depend on the order in which traces come, so they are sorted by place at
 * the end. */
#include "simulate/region_run.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "simulate/combination.h"
#include "simulate/path_sum.h"
#include "trace/code_union.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/jobs.h"
#include "util/order.h"

enum {
    MOST_STAMPED = 64 << 20, /* bytes of time stamps that wait */
    WAIT_NANOSECONDS = 20000000
};

/* ---- threads ---- */

bool region_run_stopped(const struct region_run *run) {
    return run->failed || run->abandoned || watcher_stops(&run->options.watcher);
}

static size_t ready(const struct region_run *run) {
    return run->options.chained ? run->warmed : run->task_count;
}

/* Waits for the next task to simulate; NULL: there will be none. */
static struct task *take_task(struct region_run *run) {
    struct task *task = NULL;
    pthread_mutex_lock(&run->lock);
    while (!region_run_stopped(run) && run->taken == ready(run) &&
           !(run->complete && run->taken == run->task_count))
        pthread_cond_wait(&run->changed, &run->lock);
    if (!region_run_stopped(run) && run->taken < ready(run))
        task = run->tasks[run->taken++];
    pthread_cond_broadcast(&run->changed);
    pthread_mutex_unlock(&run->lock);
    return task;
}

/* Likewise to warm. */
static struct task *next_to_warm(struct region_run *run) {
    struct task *task = NULL;
    pthread_mutex_lock(&run->lock);
    while (!region_run_stopped(run) &&
           (run->warmed == run->task_count ? !run->complete
                                           : run->warmed >= run->taken + REGIONS_AHEAD))
        pthread_cond_wait(&run->changed, &run->lock);
    if (!region_run_stopped(run) && run->warmed < run->task_count)
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
        if (!region_simulate(run, task, &error))
            fail(run, &error);
    }
    return NULL;
}

static uint64_t stamped_bytes(const struct task *task) {
    return task->region.before.count * sizeof *task->region.before.lines;
}

/* Also when it was stopped: whoever waits for it is to see that. */
static void *warm(void *context) {
    struct region_run *run = context;
    struct task *task;
    pthread_setname_np(pthread_self(), "warming");
    while ((task = next_to_warm(run))) {
        struct error error;
        if (!region_warm(run, task, &error)) {
            fail(run, &error);
            continue;
        }
        pthread_mutex_lock(&run->lock);
        task->warm = true;
        run->stamped -= stamped_bytes(task);
        stamped_before_free(&task->region.before);
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
    uint32_t jobs = run->options.chained ? 1 : jobs_or_processors(run->options.jobs);
    run->crowded = 2 * (uint64_t)jobs > jobs_processors();
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

struct region_trace region_trace_of(const struct capture_region *region,
                                    const struct stack_starts *starts, char name[REGION_NAME]) {
    snprintf(name, REGION_NAME, "region %" PRIu32, region->id);
    return (struct region_trace){
        .name = name,
        .path = region->path,
        .start = region_trace_start(region),
        .end = region_trace_end(region),
        .only = -1,
        .process = region->process,
        .thread = region->thread,
        .first = region->first,
        .begins = starts ? stack_starts_find(starts, region->thread, region->first) : NULL};
}

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
    region_stream_leave(task->region.stream);
    stamped_before_free(&task->region.before);
    trace_twice_free(task->file);
    free((char *)task->region.name);
    free((char *)task->region.path);
    free((char *)task->region.result);
    simulation_free(&task->part);
    core_learned_free(&task->start);
    branch_outcomes_free(&task->outcomes);
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
        struct stamped_before before = region->before;
        stamped_before_free(&before);
        region_stream_leave(region->stream);
        return NULL;
    }
    task->region = *region;
    if (region->warm > region->start && !region->is_stamped)
        task->region.warm = region->start;
    task->region.name = strdup(region->name);
    task->region.path = strdup(region->path);
    task->region.result = region->result ? strdup(region->result) : NULL;
    if (task->region.name && task->region.path && !task->region.result == !region->result)
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
    if (good) {
        run->tasks[run->task_count++] = task;
        run->stamped += stamped_bytes(task);
    }
    pthread_cond_broadcast(&run->changed);
    pthread_mutex_unlock(&run->lock);
    if (!good)
        free_task(task);
    return good;
}

/* Under the lock. */
static bool is_full(const struct region_run *run) {
    return run->stamped > MOST_STAMPED && !region_run_stopped(run);
}

bool region_run_full(struct region_run *run) {
    pthread_mutex_lock(&run->lock);
    const bool full = is_full(run);
    pthread_mutex_unlock(&run->lock);
    return full;
}

void region_run_wait_for_room(struct region_run *run) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += WAIT_NANOSECONDS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&run->lock);
    if (is_full(run))
        pthread_cond_timedwait(&run->changed, &run->lock, &until);
    pthread_mutex_unlock(&run->lock);
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
                region_number_paths(run, simulation, code, numbers, PATH_NONE, error) &&
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
