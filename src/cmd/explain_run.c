/* What the explanation leaves to be simulated in one pass is one trace, which run.c simulates. */

#include "cmd/explain.h"
#include "cmd/interrupt.h"

static bool start(struct explain *explain, struct error *error) {
    struct run *run = &explain->run;
    if (!run_details(run, error))
        return false;
    struct capture_options capture = input_capture(&verb_watch, &run->input);
    const struct explanation_request request = {
        .watch = &verb_watch,
        .capture = &capture,
        .interrupted = interrupt_tell,
        .trace = run->input.trace,
        .machines = &run->machines,
        .ideal = run->machine.ideal,
        .over = explain->over,
        .kept = explain->kept,
        .whole = explain->whole,
        .rerun = explain->rerun,
        .threads = !run->study.threads.alone,
        .forecasts = run->study.forecasts,
        .details = run->study.options.details,
        .sampling = run->study.options.sampling,
        .warm_up = explain->warm_up,
        .simulate_warm_up = explain->simulate_warm_up,
        .regions = explain->regions,
        .enough = explain->enough,
        .saving = save_is_wanted(&run->save_options) ? &run->save.saving : NULL};
    explain->explanation = explanation_start(&request, &run->verb.failed, error);
    if (!explain->explanation)
        return false;
    run->study.options.machine = explanation_machine(explain->explanation);
    if (!run_may_have_levels(run, run->study.options.machine, error))
        return false;
    save_describe(&run->save, explanation_command(explain->explanation), run->study.options.machine,
                  run->machine.ideal);
    if (explanation_go(explain->explanation, &explain->kind, error))
        return true;
    const struct error what = *error;
    if (verb_watch.signal)
        error_set(error, "%s; --limit 20M explains the beginning of a run within seconds",
                  what.message);
    return false;
}

/* What is left is one trace. */
static bool one_pass(struct explain *explain, struct error *error) {
    struct run *run = &explain->run;
    if (explain->kind == EXPLANATION_SHORT)
        run->study.options.sampling = sampling_everything();
    run->verb.ended_by = explanation_signal(explain->explanation);
    if (run->verb.ended_by && run->input.trace)
        run->input.limit = explanation_profiled(explain->explanation);
    run->study.trace = explanation_take_trace(explain->explanation);
    run->study.file = explanation_file(explain->explanation);
    save_close(&run->save);
    const bool good = save_open(&run->save, &run->save_options, &verb_watch.temporaries, error) &&
                      run_go(run, error);
    explanation_drop_file(explain->explanation);
    return good;
}

bool explain_run(void *verb, struct error *error) {
    struct explain *explain = verb;
    struct verb_run *run = &explain->run.verb;
    if (!start(explain, error))
        return false;
    if (explain->kind != EXPLANATION_DONE)
        return one_pass(explain, error);
    explanation_result(explain->explanation, &explain->simulation, &explain->code);
    explain->trace = explanation_take_trace(explain->explanation);
    run->measured = true;
    run->ended_by =
        verb_watch.signal ? verb_watch.signal : explanation_signal(explain->explanation);
    verb_command_ended(run, explain->trace);
    return true;
}

bool explain_build(struct explain *explain, struct error *error) {
    struct run *run = &explain->run;
    const struct trace *trace = explain->trace;
    const char *text;
    if (explain->kind != EXPLANATION_DONE)
        return run_report_begin(run, explanation_note(explain->explanation, 0), error);
    const struct forecasting_result forecast = explanation_forecast(explain->explanation);
    if (!run_report_build(run, &explain->simulation, explain->code, trace_command(trace),
                          run->verb.ended_by || trace_is_cut(trace), &forecast, error))
        return false;
    for (unsigned i = 0; (text = explanation_note(explain->explanation, i)); i++)
        report_note(&run->report, "%s", text);
    run_note_trace(run, explain->code, trace);
    if (save_is_wanted(&run->save_options))
        saving_set_calls(&run->save.saving, &explain->simulation.paths, explain->code);
    run_save_finish(run, &run->report);
    return true;
}

bool explain_report(void *verb, struct error *error) {
    struct explain *explain = verb;
    return explain_build(explain, error) && run_report_write(&explain->run, error);
}

void explain_free(void *verb) {
    struct explain *explain = verb;
    watch_trace(&verb_watch, NULL);
    run_free(&explain->run);
    simulation_free(&explain->simulation);
    trace_close(explain->trace);
    explanation_free(explain->explanation);
}
