/* culprit top: where the samples of the store lie (DCPI's dcpiprof). */
#include <inttypes.h>

#include "cmd/cmd.h"
#include "cmd/profile_options.h"
#include "cmd/top_calls.h"
#include "report/over_time.h"
#include "report/profile_report.h"
#include "util/array.h"
#include "util/text.h"

struct job {
    struct profile_run run;
    bool over_time;
    struct timeline timeline;
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
    if (calls && (job->rows.by != PROFILE_BY_PROCEDURE || job->rows.image))
        options_fail(state, "%s: of procedures, in all images; without --by and --image",
                     job->calls.tree ? "--tree" : "--callers");
    if (calls && job->over_time)
        options_fail(state, "--over-time: of rows, not of calls");
    if (job->run.verb.output.svg && !job->over_time)
        options_fail(state, "--svg: it draws what goes on over time (add --over-time)");
    if (job->over_time && job->rows.event_count > 1)
        options_fail(state, "--event: one at a time");
    if (calls && job->rows.event_count > 1)
        options_fail(state, "--event: one at a time");
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
            "  culprit record --stacks -- make && culprit top --tree"};

/* ---- the report ---- */

/* Of a simulation what profilers say of its cycles; how these split up only when asked for. */
static bool is_shown(const struct profile_set *set, const struct profile_event *event) {
    return !set->simulated || event->scale == set->events[0].scale;
}

static bool choose_events(struct job *job, struct error *error) {
    struct profile_report *report = &job->report;
    const struct profile_set *set = report->set;
    for (size_t i = 0; i < job->rows.event_count; i++) {
        const struct profile_event *event = profile_set_event(set, job->rows.events[i], error);
        if (!event)
            return false;
        for (size_t k = 0; k < report->event_count; k++)
            if (report->events[k] == event)
                return error_set(error, "--event %s: it is there twice", event->name);
        report->events[report->event_count++] = event;
    }
    for (size_t i = 0; i < set->event_count && !job->rows.event_count; i++)
        if (report->event_count < PROFILE_EVENTS_MAX && is_shown(set, &set->events[i]))
            report->events[report->event_count++] = &set->events[i];
    return true;
}

static bool add_events(const struct job *job, struct profile_table *table, struct error *error) {
    const struct profile_report *report = &job->report;
    if (report->timeline)
        return profile_table_add_over_time(table, report->set, report->events[0], report->timeline,
                                           error);
    return all_where(i, report->event_count,
                     profile_table_add_set(table, report->set, report->events[i], i, error)) &&
           (!report->squares || profile_table_add_squares(table, report->set, report->events[0],
                                                          report->squares, error));
}

static bool fill_table(const struct job *job, struct profile_table *table, struct error *error) {
    const struct profile_report *report = &job->report;
    return add_events(job, table, error) &&
           profile_table_finish(table, job->run.verb.output.top, error) &&
           profile_table_any(table, report->set, error);
}

/* The first procedure in a file: its code can be read. NULL: there is none. */
static const struct profile_row *first_readable(const struct profile_report *report) {
    for (size_t i = 0; i < profile_table_count(report->table); i++)
        if (profile_table_row(report->table, i)->covered &&
            profile_table_row(report->table, i)->image[0] == '/')
            return profile_table_row(report->table, i);
    return NULL;
}

/* As annotate finds it; by its place when its name would fill more than a line. */
static void put_procedure(FILE *file, const struct profile_row *row) {
    enum { LINE = 60 };
    char name[PATH_MAX + 64];
    profile_row_name(row, name, sizeof name);
    if (text_columns(name) > LINE && row->covered && !(row->offset >> 63))
        snprintf(name, sizeof name, "%s+0x%" PRIx64, row->image, row->offset);
    fputc(' ', file);
    text_put_word(file, name);
}

/* Of waits it is not known where they were, of none. */
static bool is_unplaced(const struct profile_report *report) {
    return (report->by == PROFILE_BY_PROCEDURE || report->by == PROFILE_BY_IMAGE) &&
           profile_table_total(report->table) == 1 &&
           !strcmp(profile_table_row(report->table, 0)->image, "[unknown]");
}

/* Where to look next: into the procedure or file that has most, or at what else could be told
 * apart. */
static char *next_of(const struct job *job) {
    const struct profile_report *report = &job->report;
    const struct profile_row *first = profile_table_row(report->table, 0);
    const bool lasts = profile_event_lasts(report->events[0]); /* of no instructions */
    const struct profile_row *readable =
        report->by == PROFILE_BY_PROCEDURE && !lasts ? first_readable(report) : NULL;
    struct text_printer printer;
    FILE *file = text_printer_begin(&printer);
    if (!file)
        return NULL;
    if (report->set->epoch_count > 1 && report->by == PROFILE_BY_LINE)
        fputs("culprit variance", file);
    else
        fputs(readable ? "culprit annotate" : "culprit top", file);
    if (lasts)
        fprintf(file, " --%s --event %s", is_unplaced(report) ? "by thread" : "tree",
                report->events[0]->name);
    for (size_t i = 0; i < job->run.store_options.store_count; i++)
        text_put_option(file, "store", job->run.store_options.stores[i]);
    for (size_t i = 0; i < job->run.store_options.epoch_count && report->by != PROFILE_BY_EPOCH;
         i++)
        text_put_option(file, "epoch", job->run.store_options.epochs[i]);
    if (report->by < PROFILE_BY_PROCESS)
        sample_options_put(&job->run.samples, file);
    switch (report->by) {
    case PROFILE_BY_PROCEDURE:
        if (!readable && !lasts)
            fputs(" --by process", file);
        if (readable)
            put_procedure(file, readable);
        break;
    case PROFILE_BY_IMAGE:
        if (!lasts) /* --tree is of all images */
            text_put_option(file, "image", first->image);
        break;
    case PROFILE_BY_PROCESS:
        text_put_option(file, "process", first->process);
        break;
    case PROFILE_BY_PID:
        if (first->told)
            fprintf(file, " --pid %" PRIu32, first->pid);
        break;
    case PROFILE_BY_THREAD:
        if (first->told)
            fprintf(file, " --thread %" PRIu32, first->thread);
        break;
    case PROFILE_BY_CPU:
        if (first->told)
            fprintf(file, " --cpu %" PRIu32, first->processor - 1);
        break;
    case PROFILE_BY_CGROUP:
        if (first->told)
            text_put_option(file, "cgroup", first->process);
        break;
    case PROFILE_BY_EPOCH:
        fprintf(file, " --epoch %" PRId64, first->epoch);
        break;
    default:
        if (report->set->epoch_count == 1)
            fputs(" --by process", file);
    }
    return text_printer_end(&printer);
}

/* As many steps as there is room for beside names. */
static bool choose_steps(struct job *job, struct error *error) {
    enum { NAMES = 60, STEPS_LEAST = 20 };
    struct profile_report *report = &job->report;
    const unsigned columns = output_page(&job->run.verb.files.report).table_columns;
    const size_t room = columns > NAMES + STEPS_LEAST ? columns - NAMES : STEPS_LEAST;
    report->event_count = 1;
    report->timeline = &job->timeline;
    return timeline_read(&job->timeline, report->set, report->events[0]->name,
                         columns && !job->run.verb.output.json ? room : TIMELINE_STEPS_MAX, error);
}

static size_t report_steps(const struct profile_report *report) {
    return report->timeline ? report->timeline->count : 0;
}

static bool write_report(void *verb, struct error *error) {
    struct job *job = verb;
    struct profile_report *report = &job->report;
    const struct row_options *rows = &job->rows;
    if (job->calls.tree || job->calls.callers)
        return top_calls_report(&job->run, &job->calls, rows, error);
    *report = (struct profile_report){.report = {.verb = "top"},
                                      .set = &job->run.set,
                                      .by = rows->by,
                                      .filtered = job->run.samples.process || rows->image ||
                                                  rows->event_count ||
                                                  sample_choice_any(&job->run.samples.choice)};
    if (!choose_events(job, error) ||
        (job->over_time && report->event_count && !choose_steps(job, error)))
        return false;
    if (!report->timeline && report->event_count && report->events[0]->mean)
        report->squares = report->event_count;
    const struct profile_table_options options = {
        .by = rows->by,
        .process = job->run.samples.process,
        .image = rows->image,
        .columns = report->event_count + report_steps(report) + (report->squares > 0)};
    struct profile_table *table = profile_table_new(&options, job->run.program);
    report->table = table;
    report->program = job->run.program;
    if (!table)
        return error_set(error, "out of memory for the profile");
    if (!fill_table(job, table, error))
        return false;
    if (!profile_report_add_worth(report))
        return error_set(error, "out of memory for the report");
    report->report.next = next_of(job);
    const struct page page = output_page(&job->run.verb.files.report);
    if (job->run.verb.output.svg)
        over_time_svg(report, job->run.verb.files.picture.file);
    if (job->run.verb.output.json)
        return profile_report_json(report, page.file, error);
    profile_report_text(report, &page);
    return true;
}

static void clean_up(void *verb) {
    struct job *job = verb;
    profile_table_free((struct profile_table *)job->report.table);
    report_free(&job->report.report);
    profile_free(job);
}

const struct verb verb_top = {.line = &LINE,
                              .size = sizeof(struct job),
                              .prepare = profile_prepare,
                              .report = write_report,
                              .free = clean_up};
