/* The counts of a command from its simulation, as explain runs it: in full, or by regions. */
#include "cmd/stat.h"
#include "report/next.h"
#include "report/simulated_counts.h"

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

REPORT_FORMS(COUNTS, simulated_counts_json, simulated_counts_text, NULL);

static bool report(void *verb, struct error *error) {
    struct stat_job *job = verb;
    struct run *run = &job->explain.run;
    struct simulated_counts counts;
    if (!explain_build(&job->explain, error))
        return false;
    /* The whole tree of levels, of the same machine. */
    if (!(run->report.next =
              next_on_machine("culprit explain --levels", &run->machine, job->command)))
        return error_set(error, "out of memory for the report");
    simulated_counts_fill(&run->report, &run->levels, &counts);
    return verb_write_report(&run->verb, &COUNTS, &counts, error);
}

const struct verb stat_simulated = {
    .prepare = run_prepare, .run = explain_run, .report = report, .free = explain_free};
