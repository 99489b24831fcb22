/* culprit doctor: what works on this machine, and the command that mends what does not. */
#include "study/doctor.h"
#include "cmd/cmd.h"
#include "cmd/verb.h"
#include "options/exit_status.h"
#include "report/json_values.h"

struct job {
    struct verb_run verb;
    struct doctor doctor;
};

static const char *const STATES[] = {"works", "limited", "missing"};

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

static void print_text(const struct doctor *doctor, const struct page *page) {
    for (size_t i = 0; i < doctor->count; i++) {
        const struct finding *finding = &doctor->findings[i];
        char first[64], text[sizeof finding->found + 64];
        snprintf(first, sizeof first, "%-8s ", STATES[finding->state]);
        snprintf(text, sizeof text, "%s: %s", finding->what, finding->found);
        page_wrap(page, text, NULL, first, "         ");
        if (finding->mend[0])
            page_wrap(page, finding->mend, finding->mend,
                      "         mend it: ", "                  ");
    }
}

static json_t *findings_json(const struct doctor *doctor) {
    json_t *array = json_array();
    for (size_t i = 0; i < doctor->count; i++) {
        const struct finding *finding = &doctor->findings[i];
        json_array_append_new(array, json_pack("{s:s, s:s, s:o, s:o}", "what", finding->what,
                                               "state", STATES[finding->state], "found",
                                               json_text(finding->found), "mend",
                                               json_text(finding->mend[0] ? finding->mend : NULL)));
    }
    return array;
}

static bool report(void *verb, struct error *error) {
    struct job *job = verb;
    const struct page page = output_page(&job->verb.files.report);
    job->verb.exit = (struct trace_exit){
        .known = true, .status = doctor_is_well(&job->doctor) ? 0 : STATUS_FAILED};
    if (job->verb.output.json)
        return json_write(
            json_pack("{s:s, s:o}", "verb", "doctor", "findings", findings_json(&job->doctor)),
            page.file, error);
    print_text(&job->doctor, &page);
    return true;
}

const struct verb verb_doctor = {
    .line = &LINE, .size = sizeof(struct job), .prepare = prepare, .run = look, .report = report};
