#include "report/variance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/profile_report.h"

enum { WIDTH = 100 };

struct variance_row {
    const struct profile_row *row;
    struct variance variance;
};

void variance_of(const double *values, size_t count, struct variance *variance) {
    *variance =
        (struct variance){.minimum = count ? values[0] : 0, .maximum = count ? values[0] : 0};
    for (size_t i = 0; i < count; i++) {
        variance->sum += values[i];
        variance->sets += values[i] > 0;
        variance->minimum = fmin(variance->minimum, values[i]);
        variance->maximum = fmax(variance->maximum, values[i]);
    }
    double squares = 0;
    variance->mean = count ? variance->sum / (double)count : 0;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - variance->mean) * (values[i] - variance->mean);
    variance->deviation = count > 1 ? sqrt(squares / (double)(count - 1)) : 0;
    variance->range =
        variance->sum > 0 ? (variance->maximum - variance->minimum) / variance->sum : 0;
}

static int by_range(const void *left, const void *right) {
    const struct variance_row *a = left, *b = right;
    if (a->variance.range != b->variance.range)
        return a->variance.range > b->variance.range ? -1 : 1;
    if (a->variance.sum != b->variance.sum)
        return a->variance.sum > b->variance.sum ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

static double total_of(const struct variance_report *report) {
    double total = 0;
    for (size_t i = 0; i < report->set_count; i++)
        total += profile_table_sum(report->table, i);
    return total;
}

static bool add_worth(struct variance_report *report) {
    struct report *notes = &report->report;
    double mean = report->count ? report->rows[0].variance.mean : 0;
    bool good = profile_set_worth(&report->sets[0], &report->events[0], 0, 0, notes);
    if (!strcmp(report->events[0].unit, "samples") && mean > 0)
        good &= report_note(notes,
                            "chance alone makes the samples of a procedure differ by their root: "
                            "of the mean of the first row, %.1f, by a standard deviation of %.1f",
                            mean, sqrt(mean));
    if (report->small)
        good &= report_note(notes,
                            "left out: %zu row%s with less than 1 %% of all %s each (--top 0 "
                            "shows them)",
                            report->small, text_plural(report->small), report->events[0].unit);
    return good;
}

bool variance_build(struct variance_report *report) {
    size_t all = profile_table_count(report->table);
    double least = report->top ? VARIANCE_LEAST * total_of(report) : 0;
    if (!(report->rows = malloc((all ? all : 1) * sizeof *report->rows)))
        return false;
    for (size_t i = 0; i < all; i++) {
        struct variance_row row = {.row = profile_table_row(report->table, i)};
        variance_of(row.row->values, report->set_count, &row.variance);
        if (row.variance.sum >= least)
            report->rows[report->count++] = row;
        else
            report->small++;
    }
    qsort(report->rows, report->count, sizeof *report->rows, by_range);
    if (report->top && report->count > report->top) {
        report->more = report->count - report->top;
        report->count = report->top;
    }
    return add_worth(report);
}

void variance_free(struct variance_report *report) {
    free(report->rows);
    report_free(&report->report);
}

const double *variance_values(const struct variance_report *report, size_t index) {
    return index < report->count ? report->rows[index].row->values : NULL;
}

/* ---- text ---- */

/* "set 1 = 860,301  set 2 = 862,645 ... TOTAL 7,144,601", as many to a line as fit. */
static void print_sets(const struct variance_report *report, FILE *file) {
    unsigned column = 0;
    char unit[128], name[128];
    fprintf(file, "%s of event %s in each set\n",
            text_clip(unit, sizeof unit, report->events[0].unit, 30),
            text_clip(name, sizeof name, report->events[0].name, 40));
    for (size_t i = 0; i <= report->set_count; i++) {
        char cell[WIDTH];
        bool last = i == report->set_count;
        double sum = last ? total_of(report) : profile_table_sum(report->table, i);
        struct text figure = text_grouped((uint64_t)(sum + 0.5));
        int length = last ? snprintf(cell, sizeof cell, "TOTAL %s", figure.s)
                          : snprintf(cell, sizeof cell, "set %zu = %s", i + 1, figure.s);
        if (column && column + 2 + (unsigned)length > WIDTH) {
            fputc('\n', file);
            column = 0;
        }
        column += (unsigned)fprintf(file, "%s%s", column ? "  " : "", cell);
    }
    fputc('\n', file);
}

static void print_labels(const struct variance_report *report, FILE *file) {
    for (size_t i = 0; i < report->set_count; i++) {
        char line[4 * WIDTH];
        const char *command = report->sets[i].command;
        snprintf(line, sizeof line, "set %zu: %s: %s", i + 1, report->sets[i].label,
                 command ? command : "several commands");
        unsigned width = text_columns(line);
        profile_put_cell(line, width < WIDTH ? width : WIDTH, TEXT_LEFT, file);
        fputc('\n', file);
    }
}

void variance_text(const struct variance_report *report, bool colour, FILE *file) {
    const char *bold = colour ? "\033[1m" : "", *plain = colour ? "\033[0m" : "";
    enum { FIGURES = 7 + 12 + 8 + 4 + 12 + 3 * 11 + 2 };
    double total = total_of(report);
    print_labels(report, file);
    print_sets(report, file);
    fprintf(file, "\n%s%7s %11s %7s %3s %11s %10s %10s %10s  %s%s\n", bold, "range%", "sum", "sum%",
            "N", "mean", "std-dev", "min", "max", profile_by_name(report->by), plain);
    for (size_t i = 0; i < report->count; i++) {
        const struct variance *variance = &report->rows[i].variance;
        char name[4096];
        profile_row_name(report->rows[i].row, name, sizeof name);
        if (report->by == PROFILE_BY_IMAGE)
            snprintf(name, sizeof name, "%s", report->rows[i].row->image);
        fprintf(file, "%6.2f%% %11.0f %6.2f%% %3zu %11.1f %10.1f %10.0f %10.0f  ",
                100 * variance->range, variance->sum, total > 0 ? 100 * variance->sum / total : 0,
                variance->sets, variance->mean, variance->deviation, variance->minimum,
                variance->maximum);
        unsigned width = text_columns(name);
        if (report->by == PROFILE_BY_IMAGE)
            profile_put_path(name, width < WIDTH - FIGURES ? width : WIDTH - FIGURES, file);
        else
            profile_put_cell(name, width < WIDTH - FIGURES ? width : WIDTH - FIGURES, TEXT_LEFT,
                             file);
        fputc('\n', file);
    }
    if (report->more)
        fprintf(file, "        %zu more (--top 0 shows all)\n", report->more);
    report_text_foot(&report->report, colour, file);
}

/* ---- JSON ---- */

static json_t *sets_json(const struct variance_report *report) {
    json_t *array = json_array();
    for (size_t i = 0; i < report->set_count; i++)
        json_array_append_new(
            array,
            json_pack("{s:o, s:o, s:o}", "store",
                      profile_json_text(store_path(report->sets[i].store)), "epochs",
                      profile_set_epochs_json(&report->sets[i]), "event",
                      profile_event_json(&report->events[i], profile_table_sum(report->table, i))));
    return array;
}

bool variance_json(const struct variance_report *report, FILE *file, struct error *error) {
    double total = total_of(report);
    json_t *rows = json_array();
    for (size_t i = 0; i < report->count; i++) {
        const struct variance *variance = &report->rows[i].variance;
        json_t *values = json_array(), *row = profile_row_json(report->rows[i].row, report->by);
        for (size_t k = 0; k < report->set_count; k++)
            json_array_append_new(values, json_real(report->rows[i].row->values[k]));
        json_object_update_new(row, json_pack("{s:f, s:f, s:f, s:I, s:f, s:f, s:f, s:f, s:o}",
                                              "range", variance->range, "sum", variance->sum,
                                              "share", total > 0 ? variance->sum / total : 0,
                                              "sets", (json_int_t)variance->sets, "mean",
                                              variance->mean, "deviation", variance->deviation,
                                              "minimum", variance->minimum, "maximum",
                                              variance->maximum, "values", values));
        json_array_append_new(rows, row);
    }
    return profile_write_json(
        json_pack("{s:s, s:o, s:s, s:f, s:o, s:I, s:o, s:o}", "verb", report->report.verb, "sets",
                  sets_json(report), "by", profile_by_name(report->by), "total", total, "rows",
                  rows, "row_count", (json_int_t)(report->count + report->more + report->small),
                  "notes", profile_notes_json(&report->report), "next",
                  profile_json_text(report->report.next)),
        file, error);
}
