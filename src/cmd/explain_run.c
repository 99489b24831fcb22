/* A command is run as study/explain.h says, unless only a part of it is asked for, or several
 * processes, or a trace comes from a pipe: then run.c samples it in one pass. */
#include "cmd/explain_run.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "cmd/cmd.h"
#include "cmd/interrupt.h"
#include "cmd/next.h"
#include "cmd/output.h"
#include "report/missing_names.h"
#include "report/report.h"
#include "report/trace_notes.h"
#include "study/explain.h"
#include "util/text.h"

struct explain {
    struct explain_request *request;
    struct machine_choice *machines;
    struct output file;
    struct save save;
    struct explanation *run;
    struct trace *trace; /* the first run's, when it is done with */
    struct simulation simulation;
    struct program *program;
    struct report report;
};

static bool may_be_run_twice(const struct explain_request *request) {
    const struct input_options *input = &request->run.input;
    struct stat status;
    if (request->over == UINT64_MAX || input->skip || input->from || input->thread >= 0 ||
        input->seconds || input->on_signal)
        return false;
    return input->command ||
           (!input->limit && stat(input->trace, &status) == 0 && S_ISREG(status.st_mode));
}

static bool write_report(struct explain *explain, const struct code *code, struct error *error) {
    const struct run_request *request = &explain->request->run;
    struct report *report = &explain->report;
    const struct machine *machine =
        machine_choice_of(explain->machines, trace_isa(explain->trace), error);
    const struct forecasting_result forecast = explanation_forecast(explain->run);
    struct report_request what = {.verb = request->verb,
                                  .program = trace_command(explain->trace),
                                  .machine = machine,
                                  .ideal = request->machine.ideal,
                                  .by = request->output.by,
                                  .top = request->output.top,
                                  .partial = verb_watch.signal ||
                                             explanation_signal(explain->run) ||
                                             trace_is_cut(explain->trace),
                                  .forecast = &forecast.upgrades,
                                  .causes = &forecast.causes};
    const char *text;
    if (!(explain->program = program_new()))
        return error_set(error, "out of memory for the report");
    if (!report_build(&what, &explain->simulation, code, explain->program, report, error))
        return false;
    for (unsigned i = 0; (text = explanation_note(explain->run, i)); i++)
        report_note(report, "%s", text);
    bool unfollowed = note_trace(report, explain->trace) && options_may_follow(&request->input);
    missing_names_note_code(report, code, explain->program);
    note_made_code(report, code, request->input.command, request->argc, request->argv);
    bool saved = save_note(&explain->save, report, error);
    struct error late;
    error = saved ? error : &late;
    report->next =
        next_command(report, unfollowed, request->input.command, request->argc, request->argv);
    return output_report(&explain->file, report, &request->output, error) &&
           output_close(&explain->file, error) && saved;
}

/* What is left is one trace, for run.c. */
static int one_pass(struct explain *explain, bool in_full) {
    struct run_request request = explain->request->run;
    if (in_full)
        request.sampling = sampling_everything();
    request.note = explanation_note(explain->run, 0);
    request.signal = explanation_signal(explain->run);
    if (request.signal && request.input.trace)
        request.input.limit = explanation_profiled(explain->run);
    request.begun = explanation_take_trace(explain->run);
    output_discard(&explain->file);
    save_close(&explain->save);
    return run_simulation(&request);
}

static int last_status(const struct explain *explain) {
    const struct trace_exit exit = trace_exit_status(explain->trace);
    const int signal = verb_watch.signal ? verb_watch.signal : explanation_signal(explain->run);
    const bool live = explain->request->run.input.command;
    if (signal && !(live && exit.known))
        return 128 + signal;
    return live ? command_status(exit) : 0;
}

static void tell_interrupted(uint64_t instructions) {
    fprintf(stderr,
            "culprit: interrupted after %s instructions, which are simulated now; another "
            "interrupt ends that too\n",
            text_count(instructions).s);
}

static int steps(struct explain *explain, struct error *error) {
    const struct run_request *request = &explain->request->run;
    struct capture_options capture = {.command = request->input.command,
                                      .addresses = true,
                                      .limit = request->input.limit,
                                      .thread = -1,
                                      .follow = request->input.follow,
                                      .repeatable = request->input.repeatable,
                                      .seed = request->input.seed};
    watch_limit(&verb_watch, &capture, request->input.stop);
    const struct explanation_request what = {.watch = &verb_watch,
                                             .capture = &capture,
                                             .interrupted = tell_interrupted,
                                             .trace = request->input.trace,
                                             .machines = explain->machines,
                                             .ideal = request->machine.ideal,
                                             .over = explain->request->over,
                                             .rerun = explain->request->rerun,
                                             .sampling = request->sampling,
                                             .warm_up = explain->request->warm_up,
                                             .regions = explain->request->regions,
                                             .enough = explain->request->enough,
                                             .saving =
                                                 request->save.save ? &explain->save.saving : NULL};
    const int failed = request->input.trace ? STATUS_FAILED : STATUS_BROKEN;
    int status = failed;
    enum explanation_kind kind;
    const struct code *code;
    if (!machine_choice_load(explain->machines, &request->machine, error) ||
        !output_open_report(&explain->file, &request->output, !request->input.trace, error) ||
        !save_open(&explain->save, &request->save, error))
        return failed;
    interrupt_catch();
    if (!(explain->run = explanation_start(&what, &status, error)))
        return status ? status : failed;
    save_describe(&explain->save, explanation_command(explain->run),
                  explanation_machine(explain->run), request->machine.ideal);
    if (!explanation_go(explain->run, &kind, error)) {
        const struct error what = *error;
        if (verb_watch.signal)
            error_set(error, "%s; --limit 20M explains the beginning of a run within seconds",
                      what.message);
        return verb_watch.signal ? 128 + verb_watch.signal : failed;
    }
    if (kind != EXPLANATION_DONE)
        return one_pass(explain, kind == EXPLANATION_SHORT);
    explanation_result(explain->run, &explain->simulation, &code);
    explain->trace = explanation_take_trace(explain->run);
    if (!write_report(explain, code, error))
        return failed;
    return last_status(explain);
}

int run_explain(struct explain_request *request) {
    if (!may_be_run_twice(request))
        return run_simulation(&request->run);
    struct machine_choice machines = {0};
    struct explain explain = {.request = request, .machines = &machines};
    struct error error = {0};
    int status = steps(&explain, &error);
    if (error.message[0])
        print_error(&error);
    watch_trace(&verb_watch, NULL);
    report_free(&explain.report);
    simulation_free(&explain.simulation);
    if (explain.program)
        program_free(explain.program);
    trace_close(explain.trace);
    explanation_free(explain.run);
    output_discard(&explain.file);
    save_close(&explain.save);
    return status;
}
