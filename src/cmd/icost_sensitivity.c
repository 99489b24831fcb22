/* culprit icost --sensitivity. */
#include "cmd/icost.h"
#include "cmd/interrupt.h"
#include "report/trace_notes.h"

static bool prepare(void *verb, struct error *error) {
    struct icost *job = verb;
    struct sensitivity_run *run = &job->sensitivity;
    run->watch = &verb_watch;
    run->input = &job->input;
    run->machines = &job->machines;
    run->ideal = job->machine.ideal;
    run->jobs = job->request.jobs;
    job->verb.measured = true;
    return input_choose_machine(&job->input, &job->machine, &job->machines, error) &&
           verb_open_report(&job->verb, error) && sensitivity_run_begin(run, error);
}

static bool run(void *verb, struct error *error) {
    struct icost *job = verb;
    const bool good = sensitivity_run_go(&job->sensitivity, &job->verb.failed, error);
    verb_command_ended(&job->verb, job->sensitivity.trace.trace);
    return good;
}

REPORT_PICTURE(draw, sensitivity_svg)
REPORT_FORMS(SENSITIVITY, sensitivity_json, sensitivity_text, draw);

static bool write_report(void *verb, struct error *error) {
    struct icost *job = verb;
    struct sensitivity_report *report = &job->sensitivity_report;
    const struct sensitivity_run *run = &job->sensitivity;
    const struct trace *trace = run->trace.trace;
    report->study = &run->study;
    report->instructions = run->instructions;
    report->report.verb = "icost";
    report->report.program = trace_command(trace);
    report->report.machine = run->machine;
    report->report.partial = run->partial;
    report->report.ideal = job->machine.ideal;
    note_trace(&report->report, trace);
    report_note(&report->report,
                "%u simulations of the same trace, each from empty caches, TLBs "
                "and predictors",
                run->study.run_count);
    report_add_limits(&report->report);
    return verb_write_report(&job->verb, &SENSITIVITY, report, error);
}

static void clean_up(void *verb) {
    struct icost *job = verb;
    report_free(&job->sensitivity_report.report);
    sensitivity_run_free(&job->sensitivity);
    icost_clean_up(job);
}

const struct verb icost_sensitivity = {
    .prepare = prepare, .run = run, .report = write_report, .free = clean_up};
