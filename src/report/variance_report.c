#include "report/variance_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/estimated.h"
#include "report/profile_report.h"
#include "report/table.h"

static bool add_worth(struct variance_report *report) {
    struct report *notes = &report->report;
    double mean = report->variances.count ? report->variances.rows[0].variance.mean : 0;
    struct profile_event first = report->events[0];
    for (size_t i = 1; i < report->variances.set_count; i++)
        first.estimated.beside |= report->events[i].estimated.epochs > 0;
    bool good = profile_set_worth(&report->sets[0], &first, 0, 0, notes);
    for (size_t i = 1; i < report->variances.set_count; i++)
        if (report->events[i].estimated.epochs)
            good &= estimated_note(&report->sets[i], &report->events[i], notes);
    if (!strcmp(report->events[0].unit, "samples") && mean > 0)
        good &= report_note(notes,
                            "chance alone makes the samples of a procedure differ by their root: "
                            "of the mean of the first row, %.1f, by a standard deviation of %.1f",
                            mean, sqrt(mean));
    if (report->variances.small)
        good &= report_note(notes,
                            "left out: %zu row%s with less than 1 %% of all %s each (--top 0 "
                            "shows them)",
                            report->variances.small, text_plural(report->variances.small),
                            report->events[0].unit);
    return good;
}

char *variance_next(const struct variance_report *report, bool stores, bool later_store) {
    const double *values = report->variances.count ? report->variances.rows[0].row->values : NULL;
    size_t least = 0, most = 0;
    for (size_t i = 0; values && i < report->variances.set_count; i++) {
        least = values[i] < values[least] ? i : least;
        most = values[i] > values[most] ? i : most;
    }
    struct text_printer printer;
    FILE *file = least != most ? text_printer_begin(&printer) : NULL;
    if (!file)
        return NULL;
    fputs("culprit diff", file);
    profile_set_arguments(&report->sets[least], stores, file);
    profile_set_arguments(&report->sets[most], stores && later_store, file);
    return text_printer_end(&printer);
}

bool variance_report_build(struct variance_report *report) {
    return variances_find(&report->variances, report->top) && add_worth(report);
}

void variance_report_free(struct variance_report *report) {
    variances_free(&report->variances);
    report_free(&report->report);
}

/* ---- text ---- */

/* "set 1 = 860,301, set 2 = 862,645 ... TOTAL 7,144,601" */
static void print_sets(const struct variance_report *report, const struct page *page) {
    char unit[128], name[128], *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    page_print(page, "%s of event %s in each set",
               text_clip(unit, sizeof unit, report->events[0].unit, 30),
               text_clip(name, sizeof name, report->events[0].name, 40));
    if (!file)
        return;
    for (size_t i = 0; i < report->variances.set_count; i++)
        fprintf(file, "set %zu = %s, ", i + 1,
                text_grouped((uint64_t)(profile_table_sum(report->variances.table, i) + 0.5)).s);
    fprintf(file, "TOTAL %s", text_grouped((uint64_t)(report->variances.total + 0.5)).s);
    if (fclose(file) == 0)
        page_wrap(page, text, NULL, "", "");
    free(text);
}

static void print_labels(const struct variance_report *report, const struct page *page) {
    for (size_t i = 0; i < report->variances.set_count; i++) {
        char *line = NULL;
        const char *command = report->sets[i].command;
        if (asprintf(&line, "set %zu: %s: %s", i + 1, report->sets[i].label,
                     command ? command : "several commands") < 0)
            continue;
        page_clip(page, line, page->columns);
        fputc('\n', page->file);
        free(line);
    }
}

static void add_columns(const struct variance_report *report, struct table *table) {
    static const struct table_column COLUMNS[] = {{" range%", TABLE_FIGURE, .gap = 0},
                                                  {"sum", TABLE_FIGURE, .gap = 2},
                                                  {"sum%", TABLE_FIGURE, .gap = 2},
                                                  {"N", TABLE_FIGURE, .gap = 2, .rank = 1},
                                                  {"mean", TABLE_FIGURE, .gap = 2, .rank = 2},
                                                  {"std-dev", TABLE_FIGURE, .gap = 2, .rank = 3},
                                                  {"min", TABLE_FIGURE, .gap = 2},
                                                  {"max", TABLE_FIGURE, .gap = 2}};
    table_columns(table, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
    table_column(table, profile_by_names[report->by],
                 report->by == PROFILE_BY_IMAGE ? TABLE_PATH : TABLE_NAME, .gap = 2, .least = 24);
}

static struct text whole(double value) {
    return text_grouped((uint64_t)(value + 0.5));
}

static void add_row(const struct variance_report *report, const struct variance_row *row,
                    struct table *table) {
    const struct variance *variance = &row->variance;
    const double total = report->variances.total;
    char name[4096];
    table_figure(table, "%.2f%%", 100 * variance->range);
    table_cell(table, whole(variance->sum).s);
    table_figure(table, "%.2f%%", total > 0 ? 100 * variance->sum / total : 0);
    table_figure(table, "%zu", variance->sets);
    table_figure(table, "%s", whole(variance->mean).s);
    table_figure(table, "%s", whole(variance->deviation).s);
    table_cell(table, whole(variance->minimum).s);
    table_cell(table, whole(variance->maximum).s);
    profile_row_name(row->row, name, sizeof name);
    table_cell(table, report->by == PROFILE_BY_IMAGE ? row->row->image : name);
}

void variance_report_text(const struct variance_report *report, const struct page *page) {
    struct table *table = table_new(page);
    print_labels(report, page);
    print_sets(report, page);
    add_columns(report, table);
    for (size_t i = 0; i < report->variances.count; i++)
        add_row(report, &report->variances.rows[i], table);
    table_more(table, 8, report->variances.more);
    sample_choice_text(&report->sets[0].choice, page->file);
    fputc('\n', page->file);
    table_end(table);
    report_text_foot(&report->report, page);
}

/* ---- JSON ---- */

static json_t *sets_json(const struct variance_report *report) {
    json_t *array = json_array();
    for (size_t i = 0; i < report->variances.set_count; i++)
        json_array_append_new(
            array,
            json_pack("{s:o, s:o, s:o, s:o}", "store", json_text(store_path(report->sets[i].store)),
                      "epochs", profile_set_epochs_json(&report->sets[i]), "only",
                      sample_choice_json(&report->sets[i].choice), "event",
                      profile_event_json(&report->events[i],
                                         profile_table_sum(report->variances.table, i))));
    return array;
}

bool variance_report_json(const struct variance_report *report, FILE *file, struct error *error) {
    double total = report->variances.total;
    json_t *rows = json_array();
    for (size_t i = 0; i < report->variances.count; i++) {
        const struct variance *variance = &report->variances.rows[i].variance;
        json_t *values = json_array(),
               *row = profile_row_json(report->variances.rows[i].row, report->by);
        for (size_t k = 0; k < report->variances.set_count; k++)
            json_array_append_new(values, json_real(report->variances.rows[i].row->values[k]));
        json_object_update_new(row, json_pack("{s:f, s:f, s:f, s:I, s:f, s:f, s:f, s:f, s:o}",
                                              "range", variance->range, "sum", variance->sum,
                                              "share", total > 0 ? variance->sum / total : 0,
                                              "sets", (json_int_t)variance->sets, "mean",
                                              variance->mean, "deviation", variance->deviation,
                                              "minimum", variance->minimum, "maximum",
                                              variance->maximum, "values", values));
        json_array_append_new(rows, row);
    }
    json_t *object = json_pack(
        "{s:s, s:o, s:s, s:f, s:o, s:I}", "verb", report->report.verb, "sets", sets_json(report),
        "by", profile_by_names[report->by], "total", total, "rows", rows, "row_count",
        (json_int_t)(report->variances.count + report->variances.more + report->variances.small));
    return json_write_report(object, &report->report, file, error);
}
