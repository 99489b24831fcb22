/* The command is explained as `culprit explain` does, with its own streams; its profile goes to a
 * store of its own, with the samples of the runs that follow. */
#include <string.h>

#include "cmd/validate.h"

#include <stdlib.h>

#include "cmd/interrupt.h"
#include "report/next.h"
#include "util/text.h"

void validate_host_begin(struct validate_host *host) {
    host->runs = 5;
    host->top = 10;
    explain_begin(&host->explain);
}

/* ---- steps ---- */

/* What `explain` would have been asked. */
static void ask(struct validate_job *job) {
    struct explain *explain = &job->host.explain;
    struct run *run = &explain->run;
    run->verb.argc = job->verb.argc;
    run->verb.argv = job->verb.argv;
    run->verb.command = job->verb.command;
    run->verb.failed = job->verb.failed;
    run->machine = job->machine;
    run->input = job->request.input;
    run->input.follow = true;
    run->study.forecasts = false;
    run->save_options = (struct save_options){.save = true, .store = job->host.store};
    explain->rerun = job->request.rerun;
    explain->whole = true;
}

static bool prepare(void *verb, struct error *error) {
    struct validate_job *job = verb;
    struct validate_host *host = &job->host;
    struct run *run = &host->explain.run;
    if (!(host->folder = temporary_folder(&verb_watch.temporaries, error)))
        return false;
    if (asprintf(&host->store, "%s/profiles.db", host->folder) < 0) {
        host->store = NULL;
        return error_set(error, "out of memory");
    }
    ask(job);
    return input_choose_machine(&run->input, &run->machine, &run->machines, error) &&
           verb_open_report(&job->verb, error) &&
           save_open(&run->save, &run->save_options, &verb_watch.temporaries, error);
}

/* The trace of the first run, which tells what the command changed. */
static const struct trace *first_trace(const struct explain *explain) {
    return explain->trace ? explain->trace : explain->run.study.trace;
}

static bool may_repeat(const struct validate_job *job, struct error *error) {
    const struct trace_effect *effect = trace_effect(first_trace(&job->host.explain));
    const struct report *report = &job->host.explain.run.report;
    return !effect || job->request.rerun ||
           error_set(error,
                     "predicted: %s cycles on machine %s; the command cannot be repeated (%s), so "
                     "it was not measured; --rerun does",
                     text_count(report->simulation->cycles).s, report->machine->name, effect->what);
}

/* A simulation of a part is not compared with whole runs. */
static bool is_whole(const struct run *run, struct error *error) {
    if (run->verb.late.message[0]) {
        *error = run->verb.late;
        return false;
    }
    return !run->report.partial ||
           error_set(error, "the command was captured in part only, so it was not measured");
}

static bool explain(struct validate_job *job, struct error *error) {
    struct run *run = &job->host.explain.run;
    const bool good = explain_run(&job->host.explain, error);
    job->verb.failed = run->verb.failed;
    job->verb.exit = run->verb.exit;
    job->verb.ended_by = run->verb.ended_by;
    if (verb_watch.signal || run->verb.ended_by)
        return error_set(error, "interrupted before the command was captured and simulated whole: "
                                "it was not measured, and there is nothing to compare");
    return good && explain_build(&job->host.explain, error) && is_whole(run, error) &&
           may_repeat(job, error);
}

static bool measure(struct validate_job *job, struct error *error) {
    struct validate_host *host = &job->host;
    const struct host_runs_request request = {.watch = &verb_watch,
                                              .command = job->request.input.command,
                                              .input = &host->input,
                                              .runs = host->runs,
                                              .store = host->store};
    return same_program_check(&host->program, error) &&
           host_runs_go(&host->measured, &request, &job->verb.failed, error) &&
           same_program_check(&host->program, error);
}

static bool match(struct validate_job *job, struct error *error) {
    struct validate_host *host = &job->host;
    const struct run *run = &host->explain.run;
    const struct host_runs *measured = &host->measured;
    if (!measured->session_count || measured->unsampled[0])
        return true;
    if (!(measured->runs[measured->least].cycles > 0))
        return error_set(error, "the command is too short to be measured");
    if (!matched_profile_read(&host->matched, run->save.saving.store, measured->sessions,
                              measured->session_count, measured->runs[measured->least].cycles,
                              run->save.saving.session, run->program, error))
        return false;
    host->report.matched = &host->matched;
    return true;
}

static bool run(void *verb, struct error *error) {
    struct validate_job *job = verb;
    struct error unmatched;
    same_program_note(&job->host.program, job->request.input.command[0]);
    if (!kept_input_read_all(&verb_watch, error) || !kept_input_start(&job->host.input, error) ||
        !explain(job, error) || !measure(job, error))
        return false;
    if (!match(job, &unmatched))
        snprintf(job->host.measured.unsampled, sizeof job->host.measured.unsampled, "%.390s",
                 unmatched.message);
    job->verb.measured = true;
    return true;
}

/* ---- report ---- */

REPORT_FORMS(HOST, host_report_json, host_report_text, NULL);

static bool write_report(void *verb, struct error *error) {
    struct validate_job *job = verb;
    struct validate_host *host = &job->host;
    struct host_report *report = &host->report;
    const struct report *explained = &host->explain.run.report;
    report->report.verb = "validate";
    report->report.program = explained->program;
    report->report.machine = explained->machine;
    report->report.ideal = explained->ideal;
    report->report.partial = verb_watch.signal;
    report->simulation = explained->simulation;
    report->runs = &host->measured;
    report->top = host->top;
    if (!host_report_add_worth(report))
        return error_set(error, "out of memory for the report");
    report->report.next =
        next_on_machine("culprit explain", &job->machine, job->request.input.command);
    return verb_write_report(&job->verb, &HOST, report, error);
}

static void clean_up(void *verb) {
    struct validate_job *job = verb;
    struct validate_host *host = &job->host;
    report_free(&host->report.report);
    matched_profile_free(&host->matched);
    host_runs_free(&host->measured);
    explain_free(&host->explain);
    kept_input_free(&host->input);
    temporary_remove(&verb_watch.temporaries, host->folder);
    free(host->store);
}

const struct verb verb_validate_host = {
    .prepare = prepare, .run = run, .report = write_report, .free = clean_up};
