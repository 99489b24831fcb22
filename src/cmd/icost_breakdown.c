/* culprit icost's breakdown, with the next useful command. */
#include "cluster/cluster.h"
#include "cmd/icost.h"
#include "cmd/interrupt.h"
#include "program/program.h"
#include "report/next.h"

static bool tell(void *context, const char *text) {
    (void)context;
    fprintf(stderr, "culprit: %s\n", text);
    return true;
}

bool icost_prepare(void *icost, struct error *error) {
    struct icost *job = icost;
    bool good;
    job->request.tell = tell;
    if (job->request.cluster && !cluster_is_here(error))
        return false;
    options_fix_machine(&job->input, &job->machine);
    job->request.extents = paths_begin(&job->paths, &job->path_options, false, &good, error);
    return good && icost_begin(&job->study, &job->request, error) &&
           verb_open_report(&job->verb, error) &&
           paths_prepare(&job->paths, &job->path_options, &job->verb.late, error);
}

bool icost_run(void *icost, struct error *error) {
    struct icost *job = icost;
    const struct icost_program *first = job->study.programs;
    const bool good =
        icost_read(&job->study, &job->verb.failed, error) && icost_simulate(&job->study, error);
    job->verb.measured = job->study.count && first->instructions;
    verb_command_ended(&job->verb, first->input.trace);
    return good;
}

/* ---- the report ---- */

static char *next_of(const struct icost *job, bool unfollowed) {
    const struct icost_study_request *request = &job->request;
    const char *option = NULL;
    if (unfollowed && options_may_follow(&job->input))
        option = "--follow";
    else if (!job->report.report.partial && !job->multisim_given &&
             !breakdown_all_simulated(&job->report) && !job->category.categories.count &&
             !request->regions && !job->shotgun.path)
        option = "--multisim";
    return option ? next_with_option(option, job->verb.argc, job->verb.words) : NULL;
}

/* Who called whom, in the one run. */
static bool add_calls(struct icost *job, struct error *error) {
    const struct icost_program *program = &job->study.programs[0];
    if (!(job->names = verb_program()))
        return error_set(error, "out of memory for the calls");
    const struct paths_shown shown = options_paths_shown(&job->verb.output);
    return paths_report(&job->paths, &shown, &program->simulation, trace_code(program->input.trace),
                        job->names, &job->report.report, error);
}

REPORT_PICTURE(draw, breakdown_svg)
REPORT_FORMS(BREAKDOWN, breakdown_json, breakdown_text, draw);

bool icost_report(void *icost, struct error *error) {
    struct icost *job = icost;
    struct breakdown_report *report = &job->report;
    bool unfollowed;
    if (!icost_measured(&job->study))
        return error_set(error, "interrupted before anything was measured");
    if (!breakdown_report_build(report, &job->study, job->verb.output.top, &unfollowed, error))
        return false;
    report->report.next = next_of(job, unfollowed);
    return (!job->request.extents || add_calls(job, error)) &&
           verb_write_report(&job->verb, &BREAKDOWN, report, error);
}

void icost_clean_up(void *icost) {
    struct icost *job = icost;
    breakdown_report_free(&job->report);
    paths_free(&job->paths);
    if (job->names)
        program_free(job->names);
    icost_free(&job->study);
    categories_free(&job->category.categories);
    cluster_options_free(&job->cluster);
}
