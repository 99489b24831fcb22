/* The counts of a command from its simulation, as explain runs it: in full, or by regions. */
#include "cmd/stat.h"
#include "report/simulated_counts.h"
#include "util/text.h"

void stat_simulated_begin(struct stat_job *job) {
    struct run *run = &job->explain.run;
    run->input.command = job->command;
    run->input.thread = -1;
    run->input.follow = true;
    run->levels_asked = true;
    run->study.forecasts = false;
    run->path_options.no_python = true;
    run->study.threads.over = job->explain.over;
    run->study.threads.in_place_of_sampling = true;
    if (job->explain.enough)
        run->study.threads.regions = job->explain.regions;
}

/* The whole tree of levels, of the same machine; NULL: out of memory. */
static char *next_of(const struct stat_job *job) {
    const struct machine_options *machine = &job->explain.run.machine;
    struct text_printer printer;
    FILE *file = text_printer_begin(&printer);
    if (!file)
        return NULL;
    fputs("culprit explain --levels", file);
    if (machine->machine) {
        fputs(" --machine ", file);
        text_put_word(file, machine->machine);
    }
    for (uint32_t i = 0; i < machine->setting_count; i++) {
        fputs(" --set ", file);
        text_put_word(file, machine->settings[i]);
    }
    fputs(" --", file);
    for (char *const *word = job->command; *word; word++) {
        fputc(' ', file);
        text_put_word(file, *word);
    }
    return text_printer_end(&printer);
}

REPORT_FORMS(COUNTS, simulated_counts_json, simulated_counts_text, NULL);

static bool report(void *verb, struct error *error) {
    struct stat_job *job = verb;
    struct run *run = &job->explain.run;
    struct simulated_counts counts;
    if (!explain_build(&job->explain, error))
        return false;
    if (!(run->report.next = next_of(job)))
        return error_set(error, "out of memory for the report");
    simulated_counts_fill(&run->report, &run->levels, &counts);
    return verb_write_report(&run->verb, &COUNTS, &counts, error);
}

const struct verb stat_simulated = {
    .prepare = run_prepare, .run = explain_run, .report = report, .free = explain_free};
