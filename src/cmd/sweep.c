/* culprit sweep: programs on machines with all combinations of settings. */
#include "cmd/sweep.h"

#include "cmd/cmd.h"
#include "options/exit_status.h"

static bool prepare(void *verb, struct error *error) {
    struct sweep_job *job = verb;
    if (!(job->file ? design_input_file(&job->from, &job->design, job->file, &job->input, error)
                    : design_input_command(&job->from, &job->design, &job->input, error)))
        return false;
    if (!job->design.cost && (job->verb.output.svg || job->sort == DESIGN_BY_COST))
        return error_set(error, "%s: of what costs? (add --cost FORMULA)",
                         job->verb.output.svg ? "--svg" : "--sort cost");
    if (job->cluster.wanted && !cluster_is_here(error))
        return false;
    return design_prepare(&job->design, error) && verb_open_report(&job->verb, error) &&
           (!job->csv || output_open(&job->csv_file, "--csv", job->csv, NULL, error));
}

static bool run(void *verb, struct error *error) {
    struct sweep_job *job = verb;
    int exec_status = 0;
    const bool good = design_go(&job->design, &exec_status, error);
    job->verb.ended_by = job->design.signal;
    if (!good) {
        if (exec_status == STATUS_CANNOT_RUN || exec_status == STATUS_NOT_FOUND)
            job->verb.failed = exec_status;
        return false;
    }
    job->verb.measured = true;
    return true;
}

/* ---- the report ---- */

REPORT_PICTURE(draw, design_report_svg)
REPORT_FORMS(POINTS, design_report_json, design_report_text, NULL);
REPORT_FORMS(PRICED, design_report_json, design_report_text, draw);

static bool write_report(void *verb, struct error *error) {
    struct sweep_job *job = verb;
    const struct design *design = &job->design;
    job->report.design = design;
    job->report.sort = job->sort;
    job->report.report.verb = "sweep";
    if (!design_report_build(&job->report, error))
        return false;
    design_report_note_failures(&job->report);
    if (job->csv) {
        design_report_csv(&job->report, job->csv_file.file);
        if (!output_close(&job->csv_file, error))
            return false;
    }
    if (design->late.message[0])
        verb_report_late(&job->verb, &design->late);
    if (!design->signal)
        job->verb.exit = (struct trace_exit){.known = true, .status = design->failed ? 1 : 0};
    return verb_write_report(&job->verb, design->cost ? &PRICED : &POINTS, &job->report, error);
}

static void clean_up(void *verb) {
    struct sweep_job *job = verb;
    design_report_free(&job->report);
    output_discard(&job->csv_file);
    design_free(&job->design);
    cluster_options_free(&job->cluster);
    design_input_free(&job->from);
}

const struct verb verb_sweep = {.line = &sweep_line,
                                .size = sizeof(struct sweep_job),
                                .prepare = prepare,
                                .run = run,
                                .report = write_report,
                                .free = clean_up};
