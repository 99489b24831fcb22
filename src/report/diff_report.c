#include "report/diff_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/estimated.h"
#include "report/profile_report.h"
#include "report/table.h"
#include "util/file_name.h"

/* Errors of two estimates add as those of numbers that have nothing to do with each other. */
static bool note_estimates(struct diff_report *report) {
    const struct profile_event *before = &report->diff.events[0], *after = &report->diff.events[1];
    const double within[2] = {estimated_interval(before), estimated_interval(after)};
    if (after->estimated.epochs && !estimated_note(&report->diff.sets[1], after, &report->report))
        return false;
    if ((!before->estimated.epochs && !after->estimated.epochs) || within[0] < 0 || within[1] < 0)
        return true;
    return report_note(
        &report->report,
        "what was estimated leaves ± %s %% of all cycles open before, ± %s %% after: "
        "the change of their sum is known to ± %s %%",
        text_percent(within[0], 1).s, text_percent(within[1], 1).s,
        text_percent(hypot(within[0], within[1]), 1).s);
}

static bool add_worth(struct diff_report *report) {
    struct report *notes = &report->report;
    const struct profile_event *before = &report->diff.events[0], *after = &report->diff.events[1];
    struct profile_event first_event = *before;
    first_event.estimated.beside = after->estimated.epochs > 0;
    bool good = profile_set_worth(&report->diff.sets[0], &first_event, 0, 0, notes);
    good &= profile_set_note_damage(&report->diff.sets[1], notes);
    good &= note_estimates(report);
    const char *first, *other;
    if (profile_table_builds(report->diff.table, &first, &other))
        good &= report_note(notes,
                            "%s and %s are taken for two builds of one program, as each has most "
                            "of its profile and the other none of it: their procedures are "
                            "matched by name",
                            first, other);
    if (report->diff.sampled)
        good &= report_note(notes,
                            "%zu of %zu rows changed by more than 3 σ, three standard deviations "
                            "of chance; the others are in brackets: sampling alone may make such "
                            "a difference",
                            report->diff.beyond, report->diff.count);
    if (report->diff.hosts > 1)
        good &= report_note(notes,
                            "± hosts: half of the 95 %% interval of the change, by how %zu hosts "
                            "differ, of which %zu are on both sides and count as pairs; %zu of %zu "
                            "rows changed by more",
                            report->diff.hosts, report->diff.paired, report->diff.beyond_hosts,
                            report->diff.count);
    if (report->diff.measure != DIFF_SHARE && before->period != after->period)
        good &= report_note(notes, "the two were sampled at different distances: only shares "
                                   "compare (--compare share)");
    return good;
}

char *diff_next(const struct diff_report *report, bool stores) {
    const struct profile_row *first = report->count ? report->diff.rows[0].row : NULL;
    struct text_printer printer;
    FILE *file = first ? text_printer_begin(&printer) : NULL;
    if (!file)
        return NULL;
    fputs("culprit top", file);
    profile_set_arguments(&report->diff.sets[1], stores, file);
    const char *slash = strrchr(first->image, '/');
    if (first->process) /* an image may lie elsewhere there */
        text_put_option(file, "process", first->process);
    else
        text_put_option(file, "image", slash && slash[1] ? slash + 1 : first->image);
    return text_printer_end(&printer);
}

bool diff_report_build(struct diff_report *report, struct error *error) {
    if (!profile_diff_find(&report->diff, error))
        return false;
    if (report->matrices)
        profile_diff_hosts(&report->diff, report->matrices);
    const size_t all = report->diff.count;
    report->count = report->top && report->top < all ? report->top : all;
    return add_worth(report) || error_set(error, "out of memory for the report");
}

void diff_report_free(struct diff_report *report) {
    profile_diff_free(&report->diff);
    report_free(&report->report);
}

/* ---- text ---- */

/* Every digit, in groups of three, with its sign when it is a change. */
static void format_count(double value, bool change, char *text, size_t size) {
    const double whole = round(value);
    snprintf(text, size, "%s%s",
             whole < 0 ? "-"
             : change  ? "+"
                       : "",
             text_grouped((uint64_t)fabs(whole)).s);
}

/* In the measure: shares as percent. */
static void format_measure(const struct diff_report *report, double value, bool change, char *text,
                           size_t size) {
    if (report->diff.measure == DIFF_SHARE)
        snprintf(text, size, change ? "%+.2f" : "%.2f %%", value);
    else if (report->diff.measure == DIFF_RATE && fabs(value) < 1000)
        snprintf(text, size, change ? "%+.3g" : "%.3g", value);
    else
        format_count(value, change, text, size);
}

static void print_head(const struct diff_report *report, const struct page *page) {
    static const char *const SIDES[] = {"before: ", "after:  "};
    for (size_t side = 0; side < 2; side++) {
        const struct profile_set *set = &report->diff.sets[side];
        char *line = NULL;
        if (asprintf(&line, "%s: %s%s%s", set->label,
                     set->command ? set->command : "several commands", set->simulated ? "" : ", ",
                     set->simulated ? "" : text_duration(set->seconds).s) < 0)
            continue;
        fputs(SIDES[side], page->file);
        page_clip(page, line, page->columns - 8);
        fputc('\n', page->file);
        profile_event_text(&report->diff.events[side], profile_table_sum(report->diff.table, side),
                           "        ", page);
        free(line);
    }
}

static void add_columns(const struct diff_report *report, struct table *table) {
    static const char *const HEADS[DIFF_MEASURES] = {"share", NULL, "per s"};
    static const char *const CHANGES[DIFF_MEASURES] = {"points", "change", "change/s"};
    static const char *const SIDES[] = {"before", "after"};
    const bool images = report->by == PROFILE_BY_IMAGE;
    for (int side = 0; side < 2; side++) {
        table_column(table, SIDES[side], TABLE_FIGURE, .gap = side ? 2 : 1,
                     .rank = HEADS[report->diff.measure] ? 2 : 0);
        if (HEADS[report->diff.measure])
            table_column(table, HEADS[report->diff.measure], TABLE_FIGURE, .gap = 2);
    }
    table_column(table, CHANGES[report->diff.measure], TABLE_FIGURE, .gap = 2);
    if (report->diff.hosts > 1)
        table_column(table, "± hosts", TABLE_FIGURE, .gap = 2);
    if (report->diff.sampled)
        table_column(table, "σ ", TABLE_FIGURE, .gap = 2);
    table_column(table, profile_by_names[report->by], images ? TABLE_PATH : TABLE_NAME, .gap = 2,
                 .least = images ? 0 : 24);
    if (!images)
        table_column(table, "image", TABLE_PATH, .gap = 2, .least = 12, .rank = 1);
}

/* `interval` and `sigmas` NAN: not told. */
static void add_figures(const struct diff_report *report, const double values[2], double interval,
                        double sigmas, struct table *table) {
    char cell[64];
    for (int side = 0; side < 2; side++) {
        format_count(values[side], false, cell, sizeof cell);
        table_cell(table, cell);
        if (report->diff.measure == DIFF_COUNT)
            continue;
        format_measure(report, values[side] * report->diff.scales[side], false, cell, sizeof cell);
        table_cell(table, cell);
    }
    double change = values[1] * report->diff.scales[1] - values[0] * report->diff.scales[0];
    format_measure(report, change, true, cell, sizeof cell);
    table_cell(table, cell);
    if (report->diff.hosts > 1 && isnan(interval))
        table_cell(table, "");
    else if (report->diff.hosts > 1)
        table_figure(table, report->diff.measure == DIFF_SHARE ? "%.2f" : "%.3g", interval);
    bool noise = fabs(sigmas) <= DIFF_NOISE;
    snprintf(cell, sizeof cell, noise ? "(%.1f)" : "%.1f ", fabs(sigmas));
    if (report->diff.sampled)
        table_cell(table, isnan(sigmas) ? "" : cell);
}

static void add_row(const struct diff_report *report, const struct diff_row *diff,
                    struct table *table) {
    char name[4096];
    const char *image = diff->row->image;
    add_figures(report, diff->row->values, diff->interval, diff->sigmas, table);
    profile_row_name(diff->row, name, sizeof name);
    table_cell(table, report->by == PROFILE_BY_IMAGE ? image : name);
    if (report->by != PROFILE_BY_IMAGE)
        table_cell(table, file_base_name(image));
}

void diff_report_text(const struct diff_report *report, const struct page *page) {
    struct table *table = table_new(page);
    const double sums[2] = {profile_table_sum(report->diff.table, 0),
                            profile_table_sum(report->diff.table, 1)};
    print_head(report, page);
    add_columns(report, table);
    for (size_t i = 0; i < report->count; i++)
        add_row(report, &report->diff.rows[i], table);
    table_more(table, 2, report->diff.count - report->count);
    add_figures(report, sums, NAN, NAN, table);
    table_cell(table, "total");
    if (report->by != PROFILE_BY_IMAGE)
        table_cell(table, "");
    sample_choice_text(&report->diff.sets[0].choice, page->file);
    fputc('\n', page->file);
    table_end(table);
    report_text_foot(&report->report, page);
}

/* ---- JSON ---- */

static json_t *side_json(const struct diff_report *report, size_t side) {
    const struct profile_set *set = &report->diff.sets[side];
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:f}", "store", json_text(store_path(set->store)), "epochs",
        profile_set_epochs_json(set), "only", sample_choice_json(&set->choice), "event",
        profile_event_json(&report->diff.events[side], profile_table_sum(report->diff.table, side)),
        "seconds", set->seconds);
}

bool diff_report_json(const struct diff_report *report, FILE *file, struct error *error) {
    json_t *rows = json_array();
    double percent = report->diff.measure == DIFF_SHARE ? 100 : 1; /* shares are 0 to 1 in JSON */
    for (size_t i = 0; i < report->count; i++) {
        const struct diff_row *diff = &report->diff.rows[i];
        const double *values = diff->row->values;
        json_t *row = profile_row_json(diff->row, report->by);
        json_object_update_new(
            row,
            json_pack("{s:f, s:f, s:f, s:f, s:f, s:o, s:o}", "before", values[0], "after",
                      values[1], "measure_before", values[0] * report->diff.scales[0] / percent,
                      "measure_after", values[1] * report->diff.scales[1] / percent, "change",
                      diff->change / percent, "host_interval",
                      isnan(diff->interval) ? json_null() : json_real(diff->interval / percent),
                      "sigmas", report->diff.sampled ? json_real(diff->sigmas) : json_null()));
        json_array_append_new(rows, row);
    }
    json_t *object = json_pack(
        "{s:s, s:o, s:o, s:s, s:s, s:I, s:I, s:o, s:I}", "verb", report->report.verb, "before",
        side_json(report, 0), "after", side_json(report, 1), "by", profile_by_names[report->by],
        "compared", diff_measure_names[report->diff.measure], "hosts",
        (json_int_t)report->diff.hosts, "paired_hosts", (json_int_t)report->diff.paired, "rows",
        rows, "row_count", (json_int_t)report->diff.count);
    return json_write_report(object, &report->report, file, error);
}
