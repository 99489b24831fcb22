/* culprit doctor: what works on this machine, and the command that mends what does not. */
#include "study/doctor.h"
#include "cmd/cmd.h"
#include "cmd/verb.h"
#include "options/exit_status.h"
#include "report/doctor_report.h"

struct job {
    struct verb_run verb;
    struct doctor doctor;
};

static const struct option_part PARTS[] = {{&report_group, offsetof(struct job, verb.output)}, {0}};

static const struct command_line LINE = {
    .parts = PARTS,
    .arguments = "",
    .help = "Tries what culprit needs on this machine (emulators, permissions, counters, debug "
            "symbols, room for files), and prints the command that mends what does not work."
            "\vExample:\n  culprit doctor\n\n"
            "The exit status is 1 when something is missing."};

static bool prepare(void *verb, struct error *error) {
    return verb_open_report(verb, error);
}

static bool look(void *verb, struct error *error) {
    (void)error;
    doctor_look(&((struct job *)verb)->doctor);
    return true;
}

static bool report(void *verb, struct error *error) {
    struct job *job = verb;
    const struct output *output = &job->verb.files.report;
    const struct page page = output_page(output);
    job->verb.exit = (struct trace_exit){
        .known = true, .status = doctor_is_well(&job->doctor) ? 0 : STATUS_FAILED};
    if (job->verb.output.json)
        return doctor_report_json(&job->doctor, output->file, error);
    doctor_report_text(&job->doctor, &page);
    return true;
}

const struct verb verb_doctor = {
    .line = &LINE, .size = sizeof(struct job), .prepare = prepare, .run = look, .report = report};
