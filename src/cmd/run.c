/* Everything that can be wrong with the request (machine, files to write) is found out before the
 * command starts. The report follows when the command has ended, so that it stands last. */
#include "cmd/run.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/interrupt.h"
#include "report/html_profile.h"
#include "report/missing_names.h"
#include "report/next.h"
#include "report/trace_notes.h"

void run_begin(struct run *run) {
    run->input.traces_allowed = true;
    run->study.watch = &verb_watch;
    run->study.input = &run->input;
    run->study.machines = &run->machines;
    run->study.options.sampling = sampling_everything();
    run->study.threads = (struct together_request){TOGETHER_REGIONS};
}

bool run_prepare(void *verb, struct error *error) {
    struct run *run = verb;
    path_options_look(&run->path_options, &run->input);
    options_fix_machine(&run->input, &run->machine);
    return input_choose_machine(&run->input, &run->machine, &run->machines, error) &&
           verb_open_report(&run->verb, error) &&
           paths_prepare(&run->paths, &run->path_options, &run->verb.late, error) &&
           run_open_roofline(run, error) &&
           save_open(&run->save, &run->save_options, &verb_watch.temporaries, error);
}

bool run_details(struct run *run, struct error *error) {
    struct simulation_details *details = &run->study.options.details;
    const enum report_by by = run->verb.output.by;
    const bool data = path_options_data(&run->path_options, by);
    bool good;
    const bool page = run->verb.output.html || save_wants_calls(&run->save_options);
    details->extents = paths_begin(&run->paths, &run->path_options,
                                   data || by == BY_LOOP || by == BY_PATH || page, &good, error);
    details->paths_of_data = data && by != BY_LOOP && by != BY_PATH &&
                             !path_options_any(&run->path_options) &&
                             !save_is_wanted(&run->save_options) && !page;
    details->top_down = run_wants_levels(run);
    const struct run_format *format = run->save_options.run_format;
    run->study.options.series = run->verb.output.html || (format && format->spans);
    details->names = data && good ? &run->paths.names : NULL;
    run->input.objects = data;
    return good;
}

bool run_open(struct run *run, struct error *error) {
    run->study.begin = run->study.trace ? NULL : interrupt_await(&run->input);
    run->study.options.ideal = run->machine.ideal;
    run->study.interrupted = interrupt_tell;
    run->study.threads.tell_spans =
        run->save_options.run_format && run->save_options.run_format->spans;
    struct_advice_prepare(&run->struct_options, &run->study);
    return run_details(run, error) && simulated_run_open(&run->study, &run->verb.failed, error) &&
           run_may_have_levels(run, run->study.options.machine, error);
}

bool run_make_program(struct run *run, struct error *error) {
    return run->program || (run->program = verb_program()) ||
           error_set(error, "out of memory for the report");
}

bool run_result(struct run *run, bool good, struct error *error) {
    const struct simulation *simulation = &run->study.simulation;
    run->verb.measured = good ? simulation->executed : simulation->instructions;
    if (run->input.fixed)
        run->study.simulation.seconds = 0;
    if (!good && !run->verb.measured)
        return false;
    if (run->study.timed.signal)
        run->verb.ended_by = run->study.timed.signal;
    if (run->study.signal)
        run->verb.ended_by = run->study.signal;
    if (run->verb.command)
        run->verb.exit = simulated_run_exit(&run->study);
    if (good && run->verb.measured)
        good = run_make_program(run, error) && struct_advice_go(&run->struct_options, &run->study,
                                                                run->program, &run->structs, error);
    return good || verb_report_late(&run->verb, error);
}

bool run_go(void *verb, struct error *error) {
    struct run *run = verb;
    return run_open(run, error) &&
           run_result(run, simulated_run_go(&run->study, &run->verb.failed, error), error);
}

bool run_is_partial(const struct run *run) {
    return run->verb.late.message[0] || run->study.simulation.interrupted || run->verb.ended_by ||
           trace_is_cut(run->study.trace);
}

/* ---- the report ---- */

/* Slots by what the report is by. */
static bool build_levels(struct run *run, const struct simulation *simulation,
                         const struct code *code, struct error *error) {
    const uint32_t width = run->study.options.machine->core.dispatch_width;
    run->report.levels = &run->levels;
    return levels_build(simulation, width, run->verb.output.by, run->verb.output.top, code,
                        run->program, &run->levels, error);
}

bool run_report_build(struct run *run, const struct simulation *simulation, const struct code *code,
                      const char *command, bool partial, const struct forecasting_result *forecast,
                      struct error *error) {
    const struct report_request request = {.verb = run->verb.argv[0] + sizeof "culprit",
                                           .program = command,
                                           .machine = run->study.options.machine,
                                           .ideal = run->machine.ideal,
                                           .by = run->verb.output.by,
                                           .top = run->verb.output.top,
                                           .partial = partial,
                                           .forecast = forecast ? &forecast->upgrades : NULL,
                                           .causes = forecast ? &forecast->causes : NULL,
                                           .thread_what_ifs =
                                               run->study.forecasts ? &run->study.what_ifs : NULL,
                                           .laid_out = forecast ? &run->structs : NULL};
    if (!run_make_program(run, error) ||
        !report_build(&request, simulation, code, run->program, &run->report, error))
        return false;
    if (run->struct_options.given)
        run->report.structs = &run->structs;
    if ((run->levels_asked && !build_levels(run, simulation, code, error)) ||
        !run_build_roofline(run, simulation, code, error))
        return false;
    const struct paths_shown shown = options_paths_shown(&run->verb.output);
    return paths_report(&run->paths, &shown, simulation, code, run->program, &run->report, error);
}

void run_note_trace(struct run *run, const struct code *code, const struct trace *trace) {
    struct report *report = &run->report;
    report->fixed = run->input.fixed;
    run->unfollowed = note_trace(report, trace) && options_may_follow(&run->input);
    missing_names_note_code(report, code, run->program);
    note_made_code(report, code, run->verb.command, run->verb.argc, run->verb.words);
}

void run_save_finish(struct run *run, struct report *report) {
    struct error error;
    if (!save_note(&run->save, report, &error))
        verb_report_late(&run->verb, &error);
}

void run_save(struct run *run, const struct saved_event *events, size_t event_count,
              struct report *report) {
    struct saving *saving = save_to(&run->save);
    const struct trace *trace = run->study.trace;
    if (!saving) {
        run_save_finish(run, report);
        return;
    }
    save_describe(&run->save, trace_command(trace), run->study.options.machine, run->machine.ideal);
    saving_add(saving, NULL, 1, &run->study.simulation, trace_code(trace), events, event_count);
    run_save_finish(run, report);
}

bool run_report_begin(struct run *run, const char *note, struct error *error) {
    const struct simulated_run *study = &run->study;
    const struct trace *trace = study->trace;
    if (!run_report_build(run, &study->simulation, trace_code(trace), trace_command(trace),
                          run_is_partial(run), &study->forecast, error))
        return false;
    if (note)
        report_note(&run->report, "%s", note);
    if (study->apart && !study->threads.alone)
        report_note(&run->report, "its threads are not simulated together: %s", study->apart);
    run_save(run, NULL, 0, &run->report);
    run_note_trace(run, trace_code(trace), trace);
    return true;
}

static bool write_page(struct run *run, struct error *error) {
    struct html *html = &run->verb.files.html;
    const struct report *report = &run->report;
    const struct html_profile profile = {.simulation = report->simulation,
                                         .code = report->functions.code,
                                         .program = run->program,
                                         .calls = paths_profile(&run->paths),
                                         .width = report->machine->core.dispatch_width};
    return !html->data ||
           (report_json(report, html->data, error) && html_data(html, "profile", error) &&
            html_profile_write(&profile, html->data, error));
}

bool run_report_write(struct run *run, struct error *error) {
    run->report.next = next_command(&run->report, run->unfollowed, run->verb.command,
                                    run->verb.argc, run->verb.words);
    if (!output_report(&run->verb.files.report, &run->report, &run->verb.output, error))
        return false;
    /* The report is there, whatever becomes of what was to be written beside it. */
    return (write_page(run, error) && run_draw_roofline(run, error)) ||
           verb_report_late(&run->verb, error);
}

void run_free(void *verb) {
    struct run *run = verb;
    report_free(&run->report);
    levels_free(&run->levels);
    run_free_roofline(run);
    paths_free(&run->paths);
    struct_run_free(&run->structs);
    if (run->program)
        program_free(run->program);
    simulated_run_free(&run->study);
    save_discard(&run->save);
}
