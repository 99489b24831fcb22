#include "study/simulated_run.h"

#include <limits.h>
#include <stdlib.h>

#include "simulate/region_forks.h"
#include "study/floor.h"
#include "study/opened_trace.h"
#include "util/command_path.h"
#include "util/temporary.h"

/* Of a trace that is kept only in case of threads: some 3 GB. */
enum { KEPT_INSTRUCTIONS = 2000000000 };

/* Whoever ends a command that would not, as threads that wait for each other for good, waits for
 * the report of it. */
static void take_signal(struct simulated_run *run, uint64_t instructions) {
    run->signal = watch_take(run->watch);
    if (run->signal && run->interrupted)
        run->interrupted(instructions);
}

/* The command under capture: at once, or from a file where it is to be read twice, or where it must
 * not wait for the simulation. */
static struct trace *start_command(struct simulated_run *run, int *exec_status,
                                   struct error *error) {
    struct capture_options capture = input_capture(run->watch, run->input);
    uint64_t captured;
    if (run->captured)
        return trace_open(run->captured, error);
    capture.begin = run->begin;
    if (run->input->seconds) {
        bool good = timed_capture(run->watch, &capture, &run->timed, exec_status, error);
        run->captured = run->timed.path;
        return good ? trace_open(run->captured, error) : NULL;
    }
    if (!run->floor && !run->again)
        return trace_capture(&capture, exec_status, error);
    run->captured = floor_capture(run->watch, &capture, run->floor ? "--floor" : "--fields",
                                  &captured, exec_status, error);
    if (run->captured)
        take_signal(run, captured);
    return run->captured ? trace_open(run->captured, error) : NULL;
}

static bool open_trace(struct simulated_run *run, int *exec_status, struct error *error) {
    if (!run->trace)
        run->trace = run->input->command ? start_command(run, exec_status, error)
                                         : opened_trace(run->input->trace, error);
    if (run->trace)
        trace_place(run->trace, run->placement);
    return run->trace;
}

const char *simulated_run_file(const struct simulated_run *run) {
    return run->file ? run->file : run->captured ? run->captured : run->input->trace;
}

/* `file`: has all of the trace; NULL: no file has. */
static bool choose(struct simulated_run *run, const char *file, struct error *error) {
    const struct opened_trace_request request = {
        .watch = run->watch, .machines = run->machines, .threads = &run->threads, .file = file};
    return opened_trace_choose(&request, run->trace, &run->options, &run->together, &run->apart,
                               error);
}

/* The trace of a command is kept, so that it can be read once more if the program makes threads.
 * Where it cannot be, each will be simulated alone. */
static void keep_for_threads(struct simulated_run *run) {
    struct error error;
    if (run->floor || together_obstacle(&run->threads, &run->options))
        return;
    run->unkept = "there is no temporary file for their trace (TMPDIR: a folder with room)";
    run->captured = temporary_trace(&run->watch->temporaries, "sim", &error);
    if (!run->captured)
        return;
    if (trace_keep_if_possible(run->trace, run->captured, &error)) {
        run->options.until_threads = KEPT_INSTRUCTIONS;
        run->unkept = NULL;
        return;
    }
    temporary_remove(&run->watch->temporaries, run->captured);
    run->captured = NULL;
}

static bool place_code(struct simulated_run *run, struct error *error) {
    const struct input_options *input = run->input;
    char path[PATH_MAX];
    if (run->placement || run->code_stays || !input->layout || !input->command ||
        command_find(input->command[0], path, sizeof path) != 0)
        return true;
    run->placement = &run->placed;
    return (movable_code_read(path, &run->program) &&
            code_placement_make(&run->program, input->layout, &run->placed)) ||
           error_set(error, "out of memory for the functions of %s", path);
}

bool simulated_run_open(struct simulated_run *run, int *exec_status, struct error *error) {
    struct simulation_options *options = &run->options;
    if (!place_code(run, error) || !open_trace(run, exec_status, error))
        return false;
    options->profiles = run->profiles;
    if (run->input->command)
        options->selection = (struct selection){.thread = -1};
    else
        options->selection = input_selection(run->input);
    options->watcher = watcher_of(run->watch);
    const char *file = simulated_run_file(run);
    if (!choose(run, file, error))
        return false;
    if (!file)
        keep_for_threads(run);
    return true;
}

/* Finds the period of what was given none, then begins the trace anew. */
static bool rehearse(struct simulated_run *run, int *exec_status, struct error *error) {
    watch_begin_within(run->watch, "counting", "instructions", run->input->limit);
    uint64_t period = floor_period(run->trace, &run->options, run->floor, error);
    watch_end(run->watch);
    if (!period)
        return false;
    for (uint32_t i = 0; i < run->options.profile_count; i++)
        if (!run->profiles[i].sampling.samples && !run->profiles[i].sampling.period)
            run->profiles[i].sampling.period = period;
    watch_trace(run->watch, NULL);
    trace_close(run->trace);
    run->trace = NULL;
    if (!open_trace(run, exec_status, error))
        return false;
    watch_trace(run->watch, run->trace);
    return true;
}

/* An interrupted command is told to end while its trace is read on. */
static void await_end(struct trace *trace) {
    struct trace_batch batch;
    struct error error;
    while (trace_next(trace, &batch, &error) > 0)
        continue;
}

/* The command has made a thread: its trace is captured to the end, and then simulated from the file
 * that has it all. */
static bool begin_together(struct simulated_run *run, int *exec_status, struct error *error) {
    struct trace_batch batch;
    uint64_t read = run->simulation.executed;
    int status;
    simulation_free(&run->simulation);
    /* They follow one thread alone. */
    forecasting_end(&run->forecasting, NULL);
    run->options.instruction_observer_count = 0;
    watch_begin_within(run->watch, "capturing", "instructions", run->input->limit);
    while (trace_pass(run->trace, UINT64_MAX), (status = trace_next(run->trace, &batch, error)) > 0)
        watch_progress(run->watch, read += batch.insn_count + batch.passed);
    watch_end(run->watch);
    if (status < 0)
        return false;
    if (!trace_keeps(run->trace))
        return error_set(error,
                         "no room for the trace of a program with threads in %s: set "
                         "TMPDIR, or --alone",
                         temporary_parent());
    if (!trace_keep_end(run->trace, error))
        return false;
    watch_trace(run->watch, NULL);
    take_signal(run, read);
    trace_close(run->trace);
    run->trace = NULL;
    run->options.until_threads = 0;
    return open_trace(run, exec_status, error) && choose(run, run->captured, error);
}

/* Threads of a long run are simulated by regions. */
static bool plan_regions(struct simulated_run *run, struct error *error) {
    if (!run->options.together)
        return true;
    if (!threads_by_regions_plan(&run->regions, &run->threads, run->watch, &run->options, error))
        return false;
    run->together.plan = run->regions.plan.count ? &run->regions.plan : NULL;
    run->together.messages = run->together.plan ? &run->regions.messages : NULL;
    return true;
}

static bool make_forks(struct simulated_run *run, struct error *error) {
    if (!run->forecasts || !run->regions.plan.count)
        return true;
    run->together.forks = thread_what_ifs_fork(&run->options, run->regions.plan.count);
    return run->together.forks || error_set(error, "out of memory for the regions");
}

static bool simulate(struct simulated_run *run, struct error *error) {
    const struct together_plan *plan = &run->regions.plan;
    if (!plan_regions(run, error) || !make_forks(run, error))
        return false;
    watch_begin_within(run->watch, plan->count ? "simulating regions" : "simulating",
                       "instructions", plan->count ? plan->instructions : run->input->limit);
    const bool good = simulation_run(run->trace, &run->options, &run->simulation, error) &&
                      together_scale_run(&run->threads, &run->options, &run->simulation, error);
    watch_end(run->watch);
    return good;
}

/* Whether some that were simulated have one process. */
static bool shares_process(const struct simulation *simulation) {
    const struct simulation_thread *threads = simulation->threads;
    for (uint32_t i = 1; i < simulation->thread_count; i++)
        for (uint32_t before = 0; before < i; before++)
            if (threads[i].instructions && threads[before].instructions &&
                threads[before].process == threads[i].process)
                return true;
    return false;
}

/* Why threads of a command were not simulated together. NULL: no process has several. */
static const char *why_apart(const struct simulated_run *run) {
    const char *obstacle = together_obstacle(&run->threads, &run->options);
    if (!shares_process(&run->simulation))
        return NULL;
    if (run->unkept || obstacle)
        return run->unkept ? run->unkept : obstacle;
    return "their trace was not kept as far as to the second (culprit trace: all of it in a file)";
}

bool simulated_run_go(struct simulated_run *run, int *exec_status, struct error *error) {
    struct simulation_options *options = &run->options;
    const struct input_options *input = run->input;
    if (run->floor && !rehearse(run, exec_status, error))
        return false;
    if (run->forecasts && !options->together &&
        !forecasting_start(&run->forecasting, options->machine, options->ideal, FORECAST_SOME,
                           MULTISIM_DRAW, error))
        return false;
    options->instructions = run->forecasting.observers;
    options->instruction_observer_count = run->forecasting.observer_count;
    options->count_splits = run->forecasting.multisim != NULL;
    bool good = simulate(run, error);
    if (good && run->simulation.threads_met)
        good = begin_together(run, exec_status, error) && simulate(run, error);
    if (input->command && !options->together && run->simulation.thread_count > 1)
        run->apart = why_apart(run);
    if (good && run->forecasts && options->together)
        good = thread_what_ifs_find(run->watch, options, &run->simulation, &run->what_ifs, error);
    forecasting_end(&run->forecasting, &run->forecast);
    if (input->command && run->simulation.interrupted)
        await_end(run->trace);
    const bool keeps = good && run->keeps && run->captured && trace_keeps(run->trace) &&
                       trace_keep_end(run->trace, error);
    trace_settle(run->trace);
    if (!run->timed.path && !run->again && !keeps)
        simulated_run_drop(run);
    return good && (run->simulation.executed ||
                    input_nothing(run->watch, input, run->trace, "simulated", error));
}

/* Before the report: nothing is left behind when a closed pipe ends that. */
void simulated_run_drop(struct simulated_run *run) {
    temporary_remove(&run->watch->temporaries, run->captured);
    run->captured = NULL;
}

struct trace_exit simulated_run_exit(const struct simulated_run *run) {
    return run->timed.path ? run->timed.exit : trace_exit_status(run->trace);
}

void simulated_run_free(struct simulated_run *run) {
    watch_trace(run->watch, NULL);
    simulation_free(&run->simulation);
    region_forks_free(run->together.forks);
    threads_by_regions_free(&run->regions);
    trace_close(run->trace);
    code_placement_free(&run->placed);
    movable_code_free(&run->program);
    temporary_remove(&run->watch->temporaries, run->captured);
}
