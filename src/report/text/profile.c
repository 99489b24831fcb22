/* The table of `top` for people. */

#include "report/over_time.h"
#include "report/profile_report.h"
#include "report/table.h"
#include "util/array.h"

enum { NAME_BYTES = 4096 };

/* How many samples, all alike, would tell a row's value as well as those that it has. */
static double samples_of(const struct profile_report *report, size_t row) {
    const double *values = profile_table_row(report->table, row)->values;
    const double value = values[0] / report->events[0]->scale;
    const double squares = report->squares ? values[report->squares] : 0;
    return squares > 0 ? values[0] * values[0] / squares : value;
}

bool profile_report_add_worth(struct profile_report *report) {
    const struct profile_set *set = report->set;
    size_t rows = profile_table_count(report->table);
    double largest = 0, smallest = 0;
    if (rows) {
        largest = samples_of(report, 0);
        smallest = samples_of(report, rows - 1);
    }
    if (report->timeline && report->timeline->untimed > 0.0005 &&
        !report_note(&report->report, "%s %% of %s are not told apart by time",
                     text_percent(report->timeline->untimed, 1).s, report->events[0]->unit))
        return false;
    bool good = profile_set_worth(set, report->events[0], largest, smallest, &report->report) &&
                profile_note_images(report->table, report->by, 3, report->events[0]->name,
                                    report->program, &report->report);
    if (report->by == PROFILE_BY_PROCESS && set->simulated)
        good &= report_note(&report->report,
                            "a simulated run is one process, with all that its command started: "
                            "--by image tells the programs apart");
    if (report->event_count > PROFILE_EVENTS_SHOWN)
        good &= report_note(&report->report,
                            "%zu more events are in the JSON object (or choose "
                            "with --event)",
                            report->event_count - PROFILE_EVENTS_SHOWN);
    return good;
}

/* Values of an event of this name, times its period; 0: there is none, or its period is not known.
 */
static double counted(const struct profile_report *report, const double *values, const char *name) {
    const size_t i = index_where(k, report->event_count, !strcmp(report->events[k]->name, name));
    if (i == report->event_count || (report->events[i]->periods_differ && !report->events[i]->mean))
        return 0;
    return values[i] * (double)report->events[i]->period;
}

double profile_report_cpi(const struct profile_report *report, const double *values) {
    const double cycles = counted(report, values, "cycles");
    const double instructions = counted(report, values, "instructions");
    return report->by == PROFILE_BY_HOST && instructions > 0 ? cycles / instructions : 0;
}

static bool has_cpi(const struct profile_report *report) {
    for (size_t i = 0; i < profile_table_count(report->table); i++)
        if (profile_report_cpi(report, profile_table_row(report->table, i)->values) > 0)
            return true;
    return false;
}

/* ---- the table ---- */

static double percent(double part, double whole) {
    return whole > 0 ? 100 * part / whole : 0;
}

static size_t events_shown(const struct profile_report *report) {
    return report->event_count < PROFILE_EVENTS_SHOWN ? report->event_count : PROFILE_EVENTS_SHOWN;
}

const char *profile_place_heading(enum profile_by by) {
    static const char *const HEADINGS[PROFILE_BY_COUNT] = {[PROFILE_BY_PROCEDURE] = "image",
                                                           [PROFILE_BY_LINE] = "image",
                                                           [PROFILE_BY_PROCESS] = "executable",
                                                           [PROFILE_BY_PID] = "executable",
                                                           [PROFILE_BY_BUILD] = "image",
                                                           [PROFILE_BY_THREAD] = "executable",
                                                           [PROFILE_BY_EPOCH] = "of"};
    return HEADINGS[by];
}

/* Events behind the first are left out before the image is, the last first. */
static void add_columns(const struct profile_report *report, const struct page *page,
                        struct table *table) {
    enum { WIDE = 120, NAME_COLUMNS = 14, WIDE_NAME_COLUMNS = 32 };
    const enum profile_by by = report->by;
    const bool wide = !page->table_columns || page->table_columns >= WIDE;
    for (size_t i = 0; i < events_shown(report); i++) {
        const unsigned rank = i ? 2 + (unsigned)i : 0;
        char heading[64];
        text_clip(heading, sizeof heading, report->events[i]->name,
                  wide ? WIDE_NAME_COLUMNS : NAME_COLUMNS);
        table_column(table, heading, TABLE_FIGURE, .gap = i > 0, .rank = rank);
        table_column(table, "%", TABLE_FIGURE, .gap = 1, .rank = rank);
        if (!i)
            table_column(table, "   cum%", TABLE_FIGURE, .gap = 1, .rank = 1);
    }
    if (by == PROFILE_BY_HOST)
        table_column(table, "epochs", TABLE_FIGURE, .gap = 2, .rank = 2);
    if (has_cpi(report))
        table_column(table, "CPI", TABLE_FIGURE, .gap = 2, .rank = 2);
    table_column(table, profile_by_names[by],
                 by == PROFILE_BY_IMAGE || by == PROFILE_BY_CGROUP ? TABLE_PATH : TABLE_NAME,
                 .gap = 2, .least = 24);
    if (by == PROFILE_BY_LINE)
        table_column(table, "procedure", TABLE_NAME, .gap = 2, .least = 16, .rank = 2);
    if (profile_place_heading(by))
        table_column(table, profile_place_heading(by),
                     by == PROFILE_BY_EPOCH ? TABLE_TEXT : TABLE_PATH, .gap = 2, .least = 12,
                     .rank = 2);
}

static void add_figures(const struct profile_report *report, const double *values, double cumulated,
                        struct table *table) {
    for (size_t i = 0; i < events_shown(report); i++) {
        double sum = profile_table_sum(report->table, i);
        table_cell(table, text_grouped((uint64_t)(values[i] + 0.5)).s);
        table_figure(table, "%.2f%%", percent(values[i], sum));
        if (i == 0)
            table_figure(table, "%.2f%%", percent(cumulated, sum));
    }
}

static const struct store_session *epoch_of(const struct profile_set *set, int64_t id) {
    const size_t i = index_where(k, set->epoch_count, set->epochs[k].id == id);
    return i < set->epoch_count ? &set->epochs[i] : NULL;
}

static void add_place(const struct profile_report *report, const struct profile_row *row,
                      struct table *table) {
    char name[NAME_BYTES];
    const struct store_session *epoch = row->epoch ? epoch_of(report->set, row->epoch) : NULL;
    profile_row_name(row, name, sizeof name);
    table_cell(table, report->by == PROFILE_BY_IMAGE ? row->image : name);
    if (report->by == PROFILE_BY_LINE)
        table_cell(table, row->procedure ? row->procedure : "");
    if (profile_place_heading(report->by))
        table_cell(table, epoch ? epoch->name : row->image);
}

/* By host: how many epochs, and cycles for each instruction. `host` NULL: of no single one. */
static void add_host(const struct profile_report *report, const double *values, const char *host,
                     struct table *table) {
    const double cpi = profile_report_cpi(report, values);
    if (report->by != PROFILE_BY_HOST)
        return;
    table_cell(table, host ? text_grouped(profile_set_host_epochs(report->set, host)).s : "");
    if (has_cpi(report) && cpi > 0 && host)
        table_figure(table, "%.2f", cpi);
    else if (has_cpi(report))
        table_cell(table, host ? "-" : "");
}

/* What the rows that are not shown have. */
static void add_rest(const struct profile_report *report, const double *shown,
                     struct table *table) {
    double rest[PROFILE_EVENTS_SHOWN];
    char text[64] = "all others (--top 0)";
    size_t rows = profile_table_count(report->table), total = profile_table_total(report->table);
    if (total == rows)
        return;
    for (size_t i = 0; i < events_shown(report); i++) {
        rest[i] = profile_table_sum(report->table, i) - shown[i];
        rest[i] = rest[i] > 0 ? rest[i] : 0;
    }
    if (total)
        snprintf(text, sizeof text, "%zu more (--top 0)", total - rows);
    add_figures(report, rest, profile_table_sum(report->table, 0), table);
    add_host(report, rest, NULL, table);
    table_cell(table, text);
    if (report->by == PROFILE_BY_LINE)
        table_cell(table, "");
    if (profile_place_heading(report->by))
        table_cell(table, "");
}

static void print_table(const struct profile_report *report, const struct page *page) {
    double shown[PROFILE_EVENTS_SHOWN] = {0};
    struct table *table = table_new(page);
    add_columns(report, page, table);
    for (size_t i = 0; i < profile_table_count(report->table); i++) {
        const struct profile_row *row = profile_table_row(report->table, i);
        for (size_t k = 0; k < events_shown(report); k++)
            shown[k] += row->values[k];
        add_figures(report, row->values, shown[0], table);
        add_host(report, row->values, row->told ? row->process : "", table);
        add_place(report, row, table);
    }
    add_rest(report, shown, table);
    fputc('\n', page->file);
    table_end(table);
}

/* ---- the whole ---- */

static void print_lost(const struct profile_set *set, double total, FILE *file) {
    if (set->simulated)
        return;
    fprintf(file, "in no known image: %s", text_grouped(set->unknown).s);
    if (total > 0)
        fprintf(file, " (%.2f %%)", percent((double)set->unknown, total));
    fprintf(file, "; dropped: %s\n", text_grouped(set->dropped).s);
}

void profile_report_text(const struct profile_report *report, const struct page *page) {
    FILE *file = page->file;
    double all = 0;
    profile_set_text(report->set, file);
    for (size_t i = 0; i < report->event_count; i++) {
        double sum = profile_table_sum(report->table, i);
        profile_event_text(report->events[i], sum, "", page);
        if (!strcmp(report->events[i]->unit, "samples")) /* of waits places are often not known */
            all += sum;
    }
    print_lost(report->set, report->filtered ? 0 : all, file);
    if (report->timeline)
        over_time_text(report, page);
    else
        print_table(report, page);
    report_text_foot(&report->report, page);
}
