/* culprit top: where the samples of the store lie (DCPI's dcpiprof). */
#include <inttypes.h>

#include "cmd/cmd.h"
#include "cmd/profile_run.h"
#include "cmd/top_calls.h"
#include "options/store_next.h"
#include "report/fleet_report.h"
#include "report/over_time.h"
#include "report/profile_columns.h"
#include "util/array.h"

struct job {
    struct profile_run run;
    bool over_time, outliers;
    struct timeline timeline;
    struct profile_table *table;
    struct row_options rows;
    struct call_options calls;
    struct profile_report report;
};

#define REQUEST struct job
static const struct option_row OPTIONS[] = {
    HEADING(5, "Over time:"),
    FLAG("over-time", over_time,
         "When each row had its samples: one line of blocks a row, of the first event"),
    SVG_ROW(run.verb.output, "Draw them above one another, as SVG"),
    HEADING(6, "Of many hosts:"),
    FLAG(
        "outliers", outliers,
        "Which hosts stand apart from the others, and in which procedures (or --by image): how far "
        "from the median host, and how likely by sampling alone; of all epochs, unless --epoch is "
        "given"),
    {0}};

static bool refuse_argument(struct argp_state *state, void *request, char *value) {
    (void)request;
    options_fail(state, "%s: what is this? (a store is named by --store FILE)", value);
}

static void check(struct argp_state *state, void *request) {
    const struct job *job = request;
    const bool calls = job->calls.tree || job->calls.callers;
    if (job->run.store_options.store_count > 1)
        options_fail(state, "--store: one store at a time");
    sample_options_one_build(state, &job->run.samples);
    if (calls && (job->rows.by != PROFILE_BY_PROCEDURE || job->rows.image))
        options_fail(state, "%s: of procedures, in all images; without --by and --image",
                     job->calls.tree ? "--tree" : "--callers");
    if (calls && job->over_time)
        options_fail(state, "--over-time: of rows, not of calls");
    if (job->run.verb.output.svg && !job->over_time)
        options_fail(state, "--svg: it draws what goes on over time (add --over-time)");
    if (job->outliers && (calls || job->over_time))
        options_fail(state, "--outliers: of rows, without --over-time, --tree and --callers");
    if (job->outliers && job->rows.by > PROFILE_BY_LINE && job->rows.by != PROFILE_BY_HOST)
        options_fail(state, "--outliers: by procedure, image or line");
    if (job->outliers && job->rows.event_count > 1)
        options_fail(state, "--event: one at a time");
    if (job->over_time && job->rows.event_count > 1)
        options_fail(state, "--event: one at a time");
    if (calls && job->rows.event_count > 1)
        options_fail(state, "--event: one at a time");
}

static bool prepare(void *verb, struct error *error) {
    struct job *job = verb;
    const enum profile_by by = job->rows.by;
    job->run.epochs_alone =
        !profile_by_has_sums(by) || job->calls.tree || job->calls.callers || job->over_time;
    job->run.by_host = by == PROFILE_BY_HOST || job->outliers;
    job->run.all_hosts = job->run.by_host;
    return profile_prepare(verb, error);
}

static const struct option_part PARTS[] = {{&store_group, offsetof(struct job, run.store_options)},
                                           {&sample_group, offsetof(struct job, run.samples)},
                                           {&rows_group, offsetof(struct job, rows)},
                                           {&calls_group, offsetof(struct job, calls)},
                                           {&output_group, offsetof(struct job, run.verb.output)},
                                           {0}};

static const struct command_line LINE = {
    .own = {.options = OPTIONS, .argument = refuse_argument, .end = check},
    .parts = PARTS,
    .help = "Shows which procedures the samples of the store lie in, most first: those that daemon "
            "and record took, and the cycles that sim --save kept."
            "\vExamples:\n  culprit record -- gzip -9 -c /bin/bash > /dev/null && culprit top\n"
            "  culprit top --over-time --since '10min ago'\n"
            "  culprit record --stacks -- make && culprit top --tree\n"
            "  culprit top --outliers --host 'web-*' --since 2026-11-20"};

/* ---- the report ---- */

REPORT_PICTURE(draw, over_time_svg)
REPORT_FORMS(PROFILE, profile_report_json, profile_report_text, NULL);
REPORT_FORMS(OVER_TIME, profile_report_json, profile_report_text, draw);

REPORT_FORMS(OUTLIERS, outliers_json, outliers_text, NULL);

static bool write_outliers(struct job *job, struct error *error) {
    const struct row_options *rows = &job->rows;
    const char *event = rows->event_count ? rows->events[0] : NULL;
    struct fleet_report report = {.report = {.verb = "top"},
                                  .set = &job->run.set,
                                  .event = profile_set_event(&job->run.set, event, error),
                                  .by =
                                      rows->by == PROFILE_BY_HOST ? PROFILE_BY_PROCEDURE : rows->by,
                                  .image = rows->image,
                                  .top = job->run.verb.output.top};
    bool good = report.event &&
                fleet_report_outliers(&report, job->run.samples.process, job->run.program, error);
    if (good)
        report.report.next = store_next_of_outliers(&report, &job->run.store_options);
    good = good && verb_write_report(&job->run.verb, &OUTLIERS, &report, error);
    fleet_report_free(&report);
    return good;
}

static bool write_report(void *verb, struct error *error) {
    struct job *job = verb;
    if (job->outliers)
        return write_outliers(job, error);
    struct profile_report *report = &job->report;
    const struct row_options *rows = &job->rows;
    if (job->calls.tree || job->calls.callers)
        return top_calls_report(&job->run, &job->calls, rows, error);
    *report = (struct profile_report){.report = {.verb = "top"},
                                      .set = &job->run.set,
                                      .by = rows->by,
                                      .program = job->run.program,
                                      .filtered = job->run.samples.process || rows->image ||
                                                  rows->event_count ||
                                                  sample_choice_any(&job->run.samples.choice)};
    const struct output_options *output = &job->run.verb.output;
    const unsigned page_columns = output_page(&job->run.verb.files.report).table_columns;
    const struct profile_columns columns = {.events = rows->events,
                                            .event_count = rows->event_count,
                                            .process = job->run.samples.process,
                                            .image = rows->image,
                                            .top = output->top,
                                            .over_time = job->over_time,
                                            .page_columns = output->json ? 0 : page_columns};
    if (!profile_report_build(report, &columns, &job->timeline, &job->table, error))
        return false;
    report->report.next = store_next_of_rows(report, &job->run.store_options, &job->run.samples);
    return verb_write_report(&job->run.verb, job->over_time ? &OVER_TIME : &PROFILE, report, error);
}

static void clean_up(void *verb) {
    struct job *job = verb;
    profile_table_free(job->table);
    report_free(&job->report.report);
    profile_free(job);
}

const struct verb verb_top = {.line = &LINE,
                              .size = sizeof(struct job),
                              .prepare = prepare,
                              .report = write_report,
                              .free = clean_up};
