/* Everything that can be wrong with the request (machine, files to write) is found out before the
 * command starts. The report follows when the command has ended, so that it stands last. */
#include "cmd/run.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "cmd/next.h"
#include "cmd/output.h"
#include "machine/choice.h"
#include "program/program.h"
#include "report/comparison.h"
#include "report/kanata.h"
#include "report/missing_names.h"
#include "report/report.h"
#include "report/trace_notes.h"
#include "simulate/simulate.h"
#include "study/floor.h"
#include "study/forecasting.h"
#include "study/temporary.h"
#include "study/timed_capture.h"
#include "util/text.h"

struct run {
    const struct run_request *request;
    struct machine_choice *machines;
    struct slices slices;
    struct save save;
    struct output report_file, kanata_file;
    struct kanata *kanata;
    bool kanata_attached;
    struct simulation_observer observers[2];
    struct forecasting forecasting; /* `plain`: explain */
    struct forecasting_result forecast;
    struct trace *trace;
    struct timed_capture timed; /* --for */
    char *captured; /* --floor, --for: temporary trace of the command; NULL: not (yet) made */
    struct program *program;
    struct simulation simulation;
    struct report report;
    struct comparison comparison;
    bool live;
};

static bool open_files(struct run *run, struct error *error) {
    const struct run_request *request = run->request;
    if (!output_open_report(&run->report_file, &request->output, run->live, error) ||
        !slices_open(&run->slices, &request->slices, error) ||
        !save_open(&run->save, &request->save, error))
        return false;
    if (request->tracers &&
        !tracers_open(request->tracers, sysconf(_SC_NPROCESSORS_ONLN) > 1, error))
        return error_prefix(error, "--tap");
    if (!request->kanata)
        return true;
    run->kanata = kanata_new(request->kanata_from, request->kanata_cycles);
    if (!run->kanata)
        return error_set(error, "out of memory");
    return output_open(&run->kanata_file, "--kanata", request->kanata, NULL, error);
}

static bool has_floor(const struct run *run) {
    return run->request->profilers && run->request->profilers->floor > 0;
}

/* The command under capture; NULL sets *status. */
static struct trace *start_command(struct run *run, int *status, struct error *error) {
    const struct input_options *input = &run->request->input;
    struct capture_options capture = {.command = input->command,
                                      .addresses = true,
                                      .skip = input->skip,
                                      .limit = input->limit,
                                      .from_symbol = input->from,
                                      .thread = input->thread,
                                      .follow = input->follow,
                                      .seconds = input->seconds,
                                      .repeatable = input->repeatable,
                                      .seed = input->seed};
    watch_limit(&verb_watch, &capture, input->stop);
    if (!run->captured)
        capture.begin = interrupt_await(input->on_signal);
    int exec_status = STATUS_BROKEN;
    struct trace *trace = NULL;
    if (input->seconds && !run->captured) {
        interrupt_announce(input->seconds);
        bool good = timed_capture(&verb_watch, &capture, &run->timed, &exec_status, error);
        run->captured = run->timed.path;
        if (good)
            trace = trace_open(run->captured, error);
    } else if (!has_floor(run))
        trace = trace_capture(&capture, &exec_status, error);
    else if (run->captured ||
             (run->captured = floor_capture(&verb_watch, &capture, &exec_status, error)))
        trace = trace_open(run->captured, error);
    if (!trace)
        *status = exec_status ? exec_status : STATUS_BROKEN;
    return trace;
}

/* Sets *status when it fails. */
static bool open_trace(struct run *run, int *status, struct error *error) {
    const struct input_options *input = &run->request->input;
    if (run->request->begun) {
        run->trace = run->request->begun;
        return true;
    }
    if (!run->live) {
        run->trace = trace_open(input->trace, error);
        if (run->trace && !trace_has_addresses(run->trace))
            return error_set(error,
                             "%s: no memory addresses are in it, so it cannot be simulated "
                             "(capture it without --no-addresses)",
                             input->trace);
        return run->trace != NULL;
    }
    run->trace = start_command(run, status, error);
    return run->trace != NULL;
}

/* An interrupted command is told to end while its trace is read on. */
static void await_end(struct trace *trace) {
    struct trace_batch batch;
    struct error error;
    while (trace_next(trace, &batch, &error) > 0)
        continue;
}

/* The picture is of the first thread simulated. */
static bool attach_kanata(void *context, struct tap_source source, struct tap *tap, void **state,
                          struct error *error) {
    struct run *run = context;
    (void)source;
    (void)state;
    if (run->kanata_attached)
        return true;
    run->kanata_attached = true;
    struct tap_worker worker = kanata_worker(run->kanata);
    return tap_add_worker(tap, &worker, error);
}

/* What was recorded is in the files, also when the run failed. */
static bool close_tracers(const struct run *run, bool good, struct error *error) {
    struct tracers *tracers = run->request->tracers;
    struct error late;
    if (tracers && !tracers_close(tracers, trace_code(run->trace), good ? error : &late))
        return false;
    return good;
}

/* Files that a --tap left empty, or did not end, for want of a trigger. */
static void note_triggers(const struct run *run, struct report *report) {
    const struct tracers *tracers = run->request->tracers;
    const char *kind, *path, *what;
    for (uint32_t next = 0; tracers && (what = tracers_missed(tracers, &next, &kind, &path));)
        report_note(report, "--tap %s:%s: %s", kind, path, what);
}

static uint32_t set_observers(struct run *run, const struct machine *machine) {
    struct simulation_observer *observers = run->observers;
    struct tracers *tracers = run->request->tracers;
    uint32_t count = 0;
    if (run->kanata)
        observers[count++] = (struct simulation_observer){.attach = attach_kanata, .context = run};
    if (tracers) {
        const struct machine_options *changed = &run->request->machine;
        const struct tracer_run told = {.machine = machine,
                                        .command = trace_command(run->trace),
                                        .settings = changed->settings,
                                        .setting_count = changed->setting_count};
        tracers_tell(tracers, &told);
        observers[count++] = (struct simulation_observer){.attach = tracers_attach,
                                                          .detach = tracers_detach,
                                                          .learn = tracers_learn,
                                                          .context = tracers};
    }
    return count;
}

static struct simulation_options options_of(struct run *run, const struct machine *machine) {
    const struct run_request *request = run->request;
    const struct input_options *input = &request->input;
    struct simulation_options options = {
        .machine = machine,
        .ideal = request->machine.ideal,
        .sampling = request->sampling,
        .selection = {.thread = -1},
        .observers = run->observers,
        .observer_count = set_observers(run, machine),
        .instructions = run->forecasting.observers,
        .instruction_observer_count = run->forecasting.observer_count,
        .progress = watch_progress,
        .progress_context = &verb_watch,
        .stop = &verb_watch.signal,
        .slicing = request->slices.path ? &run->slices.slicing : NULL};
    if (request->profilers) {
        options.observe_commits = true;
        options.profiles = request->profilers->profiles;
        options.profile_count = request->profilers->profile_count;
        options.profile_threads = request->profilers->threads;
    }
    if (!run->live)
        options.selection = (struct selection){.skip = input->skip,
                                               .limit = input->limit,
                                               .from_symbol = input->from,
                                               .thread = input->thread};
    return options;
}

/* --floor: finds the period of what was given none, then begins the trace anew. */
static bool rehearse(struct run *run, const struct machine *machine, int *status,
                     struct error *error) {
    struct profilers_request *profilers = run->request->profilers;
    struct simulation_options options = options_of(run, machine);
    watch_begin_within(&verb_watch, "counting", "instructions", run->request->input.limit);
    uint64_t period = floor_period(run->trace, &options, profilers->floor, error);
    watch_end(&verb_watch);
    if (!period)
        return false;
    for (uint32_t i = 0; i < profilers->profile_count; i++)
        if (!profilers->profiles[i].sampling.samples && !profilers->profiles[i].sampling.period)
            profilers->profiles[i].sampling.period = period;
    watch_trace(&verb_watch, NULL);
    trace_close(run->trace);
    run->trace = NULL;
    if (!open_trace(run, status, error))
        return false;
    watch_trace(&verb_watch, run->trace);
    return true;
}

static bool simulate(struct run *run, const struct machine *machine, struct error *error) {
    const struct input_options *input = &run->request->input;
    if (run->request->plain &&
        !forecasting_start(&run->forecasting, machine, run->request->machine.ideal, FORECAST_SOME,
                           error))
        return false;
    struct simulation_options options = options_of(run, machine);
    if (run->request->tracers) /* one may write to a pipe; the command runs already */
        signal(SIGPIPE, SIG_IGN);
    watch_begin_within(&verb_watch, "simulating", "instructions", input->limit);
    bool good = simulation_run(run->trace, &options, &run->simulation, error);
    watch_end(&verb_watch);
    forecasting_end(&run->forecasting, &run->forecast);
    good = close_tracers(run, good, error);
    if (run->live && run->simulation.interrupted)
        await_end(run->trace);
    if (good && !run->simulation.executed)
        return input_nothing(&verb_watch, input, run->trace, "simulated", error);
    return good;
}

/* What each profiler says, by its label. False: nothing was saved for want of memory. */
static bool save_profiles(struct run *run, struct saving *saving) {
    const struct simulation *simulation = &run->simulation;
    const struct profilers_request *profilers = run->request->profilers;
    uint32_t count = profilers ? profilers->count : 0;
    struct saved_event *events = calloc(count + 1u, sizeof *events);
    bool good = events;
    for (uint32_t i = 0; good && i < count; i++) {
        const struct profile_result *result = &simulation->profiles[i].result;
        events[i].name = profilers->labels[i];
        events[i].period = result->period;
        events[i].cells = pics_cells(result->pics, &events[i].cell_count);
        good = events[i].cells;
    }
    if (good)
        saving_add(saving, NULL, 1, simulation, trace_code(run->trace), events, count);
    for (uint32_t i = 0; events && i < count; i++)
        free((struct pics_cell *)events[i].cells);
    free(events);
    return good;
}

/* Adds where it was saved to the report's notes. */
static bool save_profile(struct run *run, const struct machine *machine, struct report *report,
                         struct error *error) {
    struct saving *saving = save_to(&run->save);
    if (!saving)
        return true;
    save_describe(&run->save, trace_command(run->trace), machine, run->request->machine.ideal);
    if (!save_profiles(run, saving))
        return error_set(error, "--save: out of memory for the profile");
    return save_note(&run->save, report, error);
}

static bool write_comparison(struct run *run, const struct machine *machine, bool partial,
                             struct error *error) {
    const struct run_request *request = run->request;
    const struct profilers_request *profilers = request->profilers;
    struct comparison *comparison = &run->comparison;
    struct comparison_request what = {
        .labels = profilers->labels, .count = profilers->count, .top = request->output.top};
    comparison->report = (struct report){.verb = request->verb,
                                         .program = trace_command(run->trace),
                                         .machine = machine,
                                         .ideal = request->machine.ideal,
                                         .simulation = &run->simulation,
                                         .partial = partial};
    run->program = program_new();
    if (!run->program)
        return error_set(error, "out of memory for the report");
    if (!comparison_build(&what, &run->simulation, trace_code(run->trace), run->program, comparison,
                          error))
        return false;
    if (!comparison_add_worth(comparison))
        return error_set(error, "out of memory for the report");
    bool saved = save_profile(run, machine, &comparison->report, error);
    bool unfollowed =
        note_trace(&comparison->report, run->trace) && options_may_follow(&request->input);
    missing_names_note_code(&comparison->report, trace_code(run->trace), run->program);
    if (unfollowed || !profilers->systematic)
        comparison->report.next = next_with_option(unfollowed ? "--follow" : "--systematic",
                                                   request->argc, request->argv);
    FILE *file = run->report_file.file;
    const struct page page = page_of(file);
    struct error late;
    if (!request->output.json)
        comparison_text(comparison, &page);
    else if (!comparison_json(comparison, file, saved ? error : &late))
        return false;
    return output_close(&run->report_file, saved ? error : &late) && saved;
}

static bool write_report(struct run *run, const struct machine *machine, bool partial,
                         struct error *error) {
    const struct run_request *request = run->request;
    if (request->profilers)
        return write_comparison(run, machine, partial, error);
    const struct code *code = trace_code(run->trace);
    struct report_request what = {.verb = request->verb,
                                  .program = trace_command(run->trace),
                                  .machine = machine,
                                  .ideal = request->machine.ideal,
                                  .by = request->output.by,
                                  .top = request->output.top,
                                  .partial = partial,
                                  .forecast = &run->forecast.upgrades,
                                  .causes = &run->forecast.causes};
    run->program = program_new();
    if (!run->program)
        return error_set(error, "out of memory for the report");
    if (!report_build(&what, &run->simulation, code, run->program, &run->report, error))
        return false;
    if (request->note)
        report_note(&run->report, "%s", request->note);
    bool saved = save_profile(run, machine, &run->report, error);
    struct error late;
    if (!saved) /* the report is written all the same */
        error = &late;
    bool unfollowed = note_trace(&run->report, run->trace) && options_may_follow(&request->input);
    missing_names_note_code(&run->report, code, run->program);
    note_made_code(&run->report, code, request->input.command, request->argc, request->argv);
    note_triggers(run, &run->report);
    run->report.next = next_command(&run->report, unfollowed, request->input.command, request->argc,
                                    request->argv);
    if (!output_report(&run->report_file, &run->report, &request->output, error))
        return false;
    if (run->kanata && !kanata_write(run->kanata, code, run->kanata_file.file, error))
        return false;
    if (run->kanata && !kanata_count(run->kanata))
        fprintf(stderr,
                "culprit: --kanata %s: no instruction was in flight in these cycles (see "
                "--kanata-from)\n",
                request->kanata);
    const struct simulation *simulation = &run->simulation;
    return slices_write(&run->slices, simulation->slices, simulation->slice_count, error) &&
           output_close(&run->report_file, error) &&
           (!run->kanata || output_close(&run->kanata_file, error)) && saved;
}

static int run_steps(struct run *run, struct error *error) {
    int failed = run->live ? STATUS_BROKEN : STATUS_FAILED;
    if (!machine_choice_load(run->machines, &run->request->machine, error) ||
        !open_files(run, error))
        return failed;
    interrupt_catch();
    if (!open_trace(run, &failed, error))
        return failed;
    watch_trace(&verb_watch, run->trace);
    const struct machine *machine = machine_choice_of(run->machines, trace_isa(run->trace), error);
    if (!machine)
        return failed;
    if (has_floor(run) && !rehearse(run, machine, &failed, error))
        return failed;
    bool good = simulate(run, machine, error);
    trace_settle(run->trace);
    struct error late = {0};
    int ended_by = run->request->signal ? run->request->signal : run->timed.signal;
    bool partial = !good || run->simulation.interrupted || ended_by || trace_is_cut(run->trace);
    bool written = !good && !run->simulation.executed
                       ? true
                       : write_report(run, machine, partial, good ? error : &late);
    if (!good || !written)
        return verb_watch.signal && !run->simulation.executed ? 128 + verb_watch.signal : failed;
    const struct trace_exit exit =
        run->timed.path ? run->timed.exit : trace_exit_status(run->trace);
    if (ended_by && !(run->live && exit.known))
        return 128 + ended_by;
    return run->live ? command_status(exit) : verb_watch.signal ? 128 + verb_watch.signal : 0;
}

int run_simulation(const struct run_request *request) {
    struct machine_choice machines = {0};
    struct run run = {.request = request, .machines = &machines, .live = request->input.command};
    struct error error = {0};
    int status = run_steps(&run, &error);
    if (error.message[0])
        print_error(&error);
    watch_trace(&verb_watch, NULL);
    report_free(&run.report);
    comparison_free(&run.comparison);
    simulation_free(&run.simulation);
    if (run.program)
        program_free(run.program);
    trace_close(run.trace);
    temporary_remove(&verb_watch.temporaries, run.captured);
    kanata_free(run.kanata);
    tracers_free(request->tracers);
    output_discard(&run.report_file);
    output_discard(&run.kanata_file);
    slices_discard(&run.slices);
    save_close(&run.save);
    return status;
}
