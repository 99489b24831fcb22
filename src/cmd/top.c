/* culprit top: where the samples of the store lie (DCPI's dcpiprof). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/output.h"
#include "cmd/profile_options.h"
#include "report/profile_report.h"
#include "util/text.h"

struct request {
    struct store_options store;
    struct row_options rows;
    struct output_options output;
};

static bool refuse_argument(struct argp_state *state, void *request, char *value) {
    (void)request;
    options_fail(state, "%s: what is this? (a store is named by --store FILE)", value);
}

static void check(struct argp_state *state, void *request) {
    if (((struct request *)request)->store.store_count > 1)
        options_fail(state, "--store: one store at a time");
}

static const struct option_part PARTS[] = {{&store_group, offsetof(struct request, store)},
                                           {&rows_group, offsetof(struct request, rows)},
                                           {&output_group, offsetof(struct request, output)},
                                           {0}};

static const struct command_line LINE = {
    .own = {.argument = refuse_argument, .end = check},
    .parts = PARTS,
    .help = "Shows which procedures the samples of the store lie in, most first: those that daemon "
            "and record took, and the cycles that sim --save kept."
            "\vExample:\n  culprit record -- gzip -9 -c /bin/bash > /dev/null && culprit top"};

/* ---- the report ---- */

/* Of a simulation what profilers say of its cycles; how these split up only when asked for. */
static bool is_shown(const struct profile_set *set, const struct profile_event *event) {
    return !set->simulated || event->scale == set->events[0].scale;
}

static bool choose_events(const struct request *request, struct profile_report *report,
                          struct error *error) {
    const struct profile_set *set = report->set;
    for (size_t i = 0; i < request->rows.event_count; i++) {
        const struct profile_event *event = profile_set_event(set, request->rows.events[i], error);
        if (!event)
            return false;
        for (size_t k = 0; k < report->event_count; k++)
            if (report->events[k] == event)
                return error_set(error, "--event %s: it is there twice", event->name);
        report->events[report->event_count++] = event;
    }
    for (size_t i = 0; i < set->event_count && !request->rows.event_count; i++)
        if (report->event_count < PROFILE_EVENTS_MAX && is_shown(set, &set->events[i]))
            report->events[report->event_count++] = &set->events[i];
    return true;
}

static bool fill_table(const struct profile_report *report, struct profile_table *table,
                       const struct request *request, struct error *error) {
    const struct profile_set *set = report->set;
    for (size_t i = 0; i < report->event_count; i++)
        if (!profile_table_add(table, set->store, set->sessions, set->epoch_count,
                               report->events[i]->name, report->events[i]->scale, i, error))
            return false;
    if (!profile_table_finish(table, request->output.top, error))
        return false;
    if (profile_table_count(table))
        return true;
    const char *what = request->rows.image ? request->rows.image : request->rows.process;
    return error_set(
        error, what ? "%s: no samples of %s (see 'culprit top --by %s')" : "%s: it has no samples",
        set->label, what, request->rows.image ? "image" : "process");
}

/* The first procedure in a file: its code can be read. NULL: there is none. */
static const struct profile_row *first_readable(const struct profile_report *report) {
    for (size_t i = 0; i < profile_table_count(report->table); i++)
        if (profile_table_row(report->table, i)->covered &&
            profile_table_row(report->table, i)->image[0] == '/')
            return profile_table_row(report->table, i);
    return NULL;
}

/* Where to look next: into the procedure or file that has most, or at what else could be told
 * apart. */
static char *next_of(const struct request *request, const struct profile_report *report) {
    const struct profile_row *first = profile_table_row(report->table, 0);
    const struct profile_row *readable =
        report->by == PROFILE_BY_PROCEDURE ? first_readable(report) : NULL;
    char name[4096];
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    if (!file)
        return NULL;
    if (report->set->epoch_count > 1 && report->by == PROFILE_BY_LINE)
        fputs("culprit variance", file);
    else
        fputs(readable ? "culprit annotate" : "culprit top", file);
    for (size_t i = 0; i < request->store.store_count; i++)
        text_put_option(file, "store", request->store.stores[i]);
    for (size_t i = 0; i < request->store.epoch_count && report->by != PROFILE_BY_EPOCH; i++)
        text_put_option(file, "epoch", request->store.epochs[i]);
    switch (report->by) {
    case PROFILE_BY_PROCEDURE:
        fputs(readable ? " " : " --by process", file);
        if (readable) {
            profile_row_name(readable, name, sizeof name);
            text_put_word(file, name);
        }
        break;
    case PROFILE_BY_IMAGE:
        text_put_option(file, "image", first->image);
        break;
    case PROFILE_BY_PROCESS:
        text_put_option(file, "process", first->process);
        break;
    case PROFILE_BY_EPOCH:
        fprintf(file, " --epoch %" PRId64, first->epoch);
        break;
    default:
        if (report->set->epoch_count == 1)
            fputs(" --by process", file);
    }
    if (fclose(file) == 0)
        return text;
    free(text);
    return NULL;
}

static bool write_report(void *context, const struct profile_set *set, struct program *program,
                         struct output *output, struct error *error) {
    const struct request *request = context;
    struct profile_report report = {.report = {.verb = "top"},
                                    .set = set,
                                    .by = request->rows.by,
                                    .filtered = request->rows.process || request->rows.image ||
                                                request->rows.event_count};
    if (!choose_events(request, &report, error))
        return false;
    const struct profile_table_options options = {.by = request->rows.by,
                                                  .process = request->rows.process,
                                                  .image = request->rows.image,
                                                  .columns = report.event_count};
    struct profile_table *table = profile_table_new(&options, program);
    report.table = table;
    report.program = program;
    const struct page page = page_of(output->file);
    bool good = table ? fill_table(&report, table, request, error)
                      : error_set(error, "out of memory for the profile");
    if (good && !profile_report_add_worth(&report))
        good = error_set(error, "out of memory for the report");
    if (good)
        report.report.next = next_of(request, &report);
    if (good && request->output.json)
        good = profile_report_json(&report, output->file, error);
    else if (good)
        profile_report_text(&report, &page);
    good = good && output_close(output, error);
    profile_table_free(table);
    report_free(&report.report);
    return good;
}

int cmd_top(int argc, char **argv) {
    struct request request = {0};
    struct error error = {0};
    free(options_parse(&LINE, argc, argv, &request));
    if (profile_set_report(&request.store, request.output.output, write_report, &request, &error))
        return 0;
    print_error(&error);
    return STATUS_FAILED;
}
