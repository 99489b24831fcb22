/* culprit icost --sensitivity: the machines of the study are made, and so checked, before the
 * command starts, where its architecture is known by then; its trace is captured, then simulated on
 * each. */
#include "cmd/icost.h"
#include "cmd/interrupt.h"
#include "report/trace_notes.h"
#include "study/temporary.h"

static bool prepare(void *verb, struct error *error) {
    struct icost *job = verb;
    job->verb.measured = true;
    return input_choose_machine(&job->input, &job->machine, &job->machines, error) &&
           verb_open_report(&job->verb, error) &&
           (job->folder = temporary_folder(&verb_watch.temporaries, error));
}

static bool simulate(struct icost *job, struct error *error) {
    struct sensitivity *study = &job->sensitivity;
    struct sensitivity_report *report = &job->sensitivity_report;
    const struct multisim_options options = {.trace = job->trace.path,
                                             .selection = job->trace.again,
                                             .jobs = job->request.jobs,
                                             .watcher = watcher_of(&verb_watch)};
    watch_begin(&verb_watch, "simulating", "instructions", 0);
    bool good = multisim(&options, study->runs, study->run_count, error);
    watch_end(&verb_watch);
    uint32_t done = 0;
    for (uint32_t i = 0; i < study->run_count; i++) {
        done += study->runs[i].done;
        if (study->runs[i].done)
            report->instructions = study->runs[i].instructions;
    }
    report->report.partial = done < study->run_count || trace_is_cut(job->trace.trace);
    if (good && !done)
        return error_set(error, "interrupted before anything was simulated");
    return good && (report->instructions ||
                    input_nothing(&verb_watch, &job->input, job->trace.trace, "simulated", error));
}

static bool run(void *verb, struct error *error) {
    struct icost *job = verb;
    struct report *report = &job->sensitivity_report.report;
    if (!trace_input_open(&job->trace, &verb_watch, &job->input, 0, job->folder, &job->verb.failed,
                          error) ||
        !(report->machine = machine_choice_of(&job->machines, trace_isa(job->trace.trace), error)))
        return false;
    if (!sensitivity_build(&job->sensitivity, report->machine, job->machine.ideal, error))
        return error_prefix(error, "--sensitivity");
    const bool good =
        trace_input_read(&job->trace, job->input.limit, error) && simulate(job, error);
    verb_command_ended(&job->verb, job->trace.trace);
    return good;
}

REPORT_PICTURE(draw, sensitivity_svg)
REPORT_FORMS(SENSITIVITY, sensitivity_json, sensitivity_text, draw);

static bool write_report(void *verb, struct error *error) {
    struct icost *job = verb;
    struct sensitivity_report *report = &job->sensitivity_report;
    report->study = &job->sensitivity;
    report->report.verb = "icost";
    report->report.program = trace_command(job->trace.trace);
    report->report.ideal = job->machine.ideal;
    note_trace(&report->report, job->trace.trace);
    report_note(&report->report,
                "%u simulations of the same trace, each from empty caches, TLBs "
                "and predictors",
                job->sensitivity.run_count);
    report_add_limits(&report->report);
    return verb_write_report(&job->verb, &SENSITIVITY, report, error);
}

static void clean_up(void *verb) {
    struct icost *job = verb;
    report_free(&job->sensitivity_report.report);
    trace_input_close(&job->trace);
    temporary_remove(&verb_watch.temporaries, job->folder);
    icost_clean_up(job);
}

const struct verb icost_sensitivity = {
    .prepare = prepare, .run = run, .report = write_report, .free = clean_up};
