#include "report/profile_diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/profile_report.h"

enum { WIDTH = 100 };

struct diff_row {
    const struct profile_row *row;
    double change; /* in the measure */
    double sigmas;
};

const char *diff_measure_name(enum diff_measure measure) {
    static const char *const NAMES[DIFF_MEASURES] = {"share", "count", "rate"};
    return NAMES[measure];
}

double diff_sigmas(double before, double after, const double scales[2], double whole) {
    double common = (before + after) / (1 / scales[0] + 1 / scales[1]);
    double square = common * (1 - common / whole) * (scales[0] + scales[1]);
    return square > 0 ? (after * scales[1] - before * scales[0]) / sqrt(square) : 0;
}

static bool find_scales(struct diff_report *report, struct error *error) {
    for (int side = 0; side < 2; side++) {
        const struct profile_set *set = &report->sets[side];
        double sum = profile_table_sum(report->table, (size_t)side);
        report->scales[side] = 1;
        if (report->measure == DIFF_SHARE && !(sum > 0))
            return error_set(error,
                             "%s has no such samples, of which shares could be compared "
                             "(--compare count)",
                             set->label);
        if (report->measure == DIFF_SHARE)
            report->scales[side] = 100 / sum;
        if (report->measure == DIFF_RATE && !(set->seconds > 0))
            return error_set(error,
                             "%s has no length, by which a rate could be told (--compare "
                             "share)",
                             set->label);
        if (report->measure == DIFF_RATE)
            report->scales[side] = 1 / set->seconds;
    }
    return true;
}

static int by_change(const void *left, const void *right) {
    const struct diff_row *a = left, *b = right;
    double first = fabs(a->change), second = fabs(b->change);
    if (first != second)
        return first > second ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

static bool add_worth(struct diff_report *report) {
    struct report *notes = &report->report;
    const struct profile_event *before = &report->events[0], *after = &report->events[1];
    bool good = profile_set_worth(&report->sets[0], before, 0, 0, notes);
    if (report->sampled)
        good &= report_note(notes,
                            "%zu of %zu rows changed by more than 3 σ, three standard deviations "
                            "of chance; the others are in brackets: sampling alone may make such "
                            "a difference",
                            report->beyond, report->total);
    if (report->measure != DIFF_SHARE && before->period != after->period)
        good &= report_note(notes, "the two were sampled at different distances: only shares "
                                   "compare (--compare share)");
    return good;
}

bool profile_diff_build(struct diff_report *report, struct error *error) {
    size_t all = profile_table_count(report->table);
    if (!find_scales(report, error))
        return false;
    report->sampled = !strcmp(report->events[0].unit, "samples");
    double whole = report->measure == DIFF_SHARE ? 100 : INFINITY;
    if (!(report->rows = malloc((all ? all : 1) * sizeof *report->rows)))
        return error_set(error, "out of memory for the report");
    for (size_t i = 0; i < all; i++) {
        const struct profile_row *row = profile_table_row(report->table, i);
        const double *values = row->values, *scales = report->scales;
        struct diff_row new = {.row = row,
                               .change = values[1] * scales[1] - values[0] * scales[0],
                               .sigmas = diff_sigmas(values[0], values[1], scales, whole)};
        report->beyond += fabs(new.sigmas) > DIFF_NOISE;
        report->rows[i] = new;
    }
    qsort(report->rows, all, sizeof *report->rows, by_change);
    report->total = all;
    report->count = report->top && report->top < all ? report->top : all;
    return add_worth(report) || error_set(error, "out of memory for the report");
}

void profile_diff_free(struct diff_report *report) {
    free(report->rows);
    report_free(&report->report);
}

const struct profile_row *profile_diff_row(const struct diff_report *report, size_t index) {
    return index < report->count ? report->rows[index].row : NULL;
}

/* ---- text ---- */

/* In the measure: shares as percent. */
static void format_measure(const struct diff_report *report, double value, bool change, char *text,
                           size_t size) {
    if (report->measure == DIFF_SHARE)
        snprintf(text, size, change ? "%+.2f" : "%.2f%%", value);
    else if (report->measure == DIFF_RATE)
        snprintf(text, size, change ? "%+.3g" : "%.3g", value);
    else
        snprintf(text, size, change ? "%+.0f" : "%.0f", value);
}

static void print_head(const struct diff_report *report, FILE *file) {
    static const char *const SIDES[] = {"before: ", "after:  "};
    for (size_t side = 0; side < 2; side++) {
        char line[4 * WIDTH];
        const struct profile_set *set = &report->sets[side];
        snprintf(line, sizeof line, "%s: %s%s%s", set->label,
                 set->command ? set->command : "several commands", set->simulated ? "" : ", ",
                 set->simulated ? "" : text_duration(set->seconds).s);
        unsigned width = text_columns(line);
        fputs(SIDES[side], file);
        profile_put_cell(line, width < WIDTH - 8 ? width : WIDTH - 8, TEXT_LEFT, file);
        fputs("\n        ", file);
        profile_event_text(&report->events[side], profile_table_sum(report->table, side), file);
    }
}

static void print_place(const struct diff_report *report, const struct profile_row *row,
                        unsigned room, FILE *file) {
    char name[4096];
    const char *slash = strrchr(row->image, '/');
    const char *image = slash && slash[1] ? slash + 1 : row->image;
    unsigned first = (room - 2) * 3 / 5, left = room - 2 - first;
    if (report->by == PROFILE_BY_IMAGE) {
        unsigned width = text_columns(row->image);
        profile_put_path(row->image, width < room ? width : room, file);
        return;
    }
    unsigned width = text_columns(image);
    profile_row_name(row, name, sizeof name);
    profile_put_cell(name, first, TEXT_LEFT, file);
    fputs("  ", file);
    profile_put_cell(image, width < left ? width : left, TEXT_LEFT, file);
}

static void print_row(const struct diff_report *report, const struct diff_row *diff, FILE *file) {
    char cell[64];
    const struct profile_row *row = diff->row;
    for (int side = 0; side < 2; side++) {
        fprintf(file, "%12s", text_grouped((uint64_t)(row->values[side] + 0.5)).s);
        if (report->measure != DIFF_COUNT) {
            format_measure(report, row->values[side] * report->scales[side], false, cell,
                           sizeof cell);
            fprintf(file, " %7s", cell);
        }
    }
    format_measure(report, diff->change, true, cell, sizeof cell);
    fprintf(file, " %10s", cell);
    if (report->sampled) {
        bool noise = fabs(diff->sigmas) <= DIFF_NOISE;
        snprintf(cell, sizeof cell, noise ? "(%.1f)" : "%.1f ", fabs(diff->sigmas));
        fprintf(file, " %7s", cell);
    }
    fputs("  ", file);
    unsigned used =
        24 + (report->measure == DIFF_COUNT ? 0 : 16) + 11 + (report->sampled ? 8 : 0) + 2;
    print_place(report, row, WIDTH - used, file);
    fputc('\n', file);
}

void profile_diff_text(const struct diff_report *report, bool colour, FILE *file) {
    static const char *const HEADS[DIFF_MEASURES] = {"share", "", "per s"};
    static const char *const CHANGES[DIFF_MEASURES] = {"points", "change", "change/s"};
    const char *bold = colour ? "\033[1m" : "", *plain = colour ? "\033[0m" : "";
    bool two = report->measure != DIFF_COUNT;
    print_head(report, file);
    fprintf(file, "\n%s%12s%s%*s%12s%s%*s %10s%s  %s%s\n", bold, "before", two ? " " : "",
            two ? 7 : 0, HEADS[report->measure], "after", two ? " " : "", two ? 7 : 0,
            HEADS[report->measure], CHANGES[report->measure], report->sampled ? "      σ " : "",
            profile_by_name(report->by), plain);
    for (size_t i = 0; i < report->count; i++)
        print_row(report, &report->rows[i], file);
    if (report->total > report->count)
        fprintf(file, "%12zu more (--top 0 shows all)\n", report->total - report->count);
    report_text_foot(&report->report, colour, file);
}

/* ---- JSON ---- */

static json_t *side_json(const struct diff_report *report, size_t side) {
    const struct profile_set *set = &report->sets[side];
    return json_pack(
        "{s:o, s:o, s:o, s:f}", "store", profile_json_text(store_path(set->store)), "epochs",
        profile_set_epochs_json(set), "event",
        profile_event_json(&report->events[side], profile_table_sum(report->table, side)),
        "seconds", set->seconds);
}

bool profile_diff_json(const struct diff_report *report, FILE *file, struct error *error) {
    json_t *rows = json_array();
    double percent = report->measure == DIFF_SHARE ? 100 : 1; /* shares are 0 to 1 in JSON */
    for (size_t i = 0; i < report->count; i++) {
        const struct diff_row *diff = &report->rows[i];
        const double *values = diff->row->values;
        json_t *row = profile_row_json(diff->row, report->by);
        json_object_update_new(
            row,
            json_pack("{s:f, s:f, s:f, s:f, s:f, s:o}", "before", values[0], "after", values[1],
                      "measure_before", values[0] * report->scales[0] / percent, "measure_after",
                      values[1] * report->scales[1] / percent, "change", diff->change / percent,
                      "sigmas", report->sampled ? json_real(diff->sigmas) : json_null()));
        json_array_append_new(rows, row);
    }
    return profile_write_json(
        json_pack("{s:s, s:o, s:o, s:s, s:s, s:o, s:I, s:o, s:o}", "verb", report->report.verb,
                  "before", side_json(report, 0), "after", side_json(report, 1), "by",
                  profile_by_name(report->by), "compared", diff_measure_name(report->measure),
                  "rows", rows, "row_count", (json_int_t)report->total, "notes",
                  profile_notes_json(&report->report), "next",
                  profile_json_text(report->report.next)),
        file, error);
}
