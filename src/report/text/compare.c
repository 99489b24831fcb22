/* Two runs side by side, for people; and as Markdown. */
#include <string.h>

#include "report/compare_report.h"
#include "report/cycles.h"
#include "report/table.h"

static double cpi(const struct compared_run *run) {
    return run->all.executions ? (double)run->all.units / CYCLE_UNITS / (double)run->all.executions
                               : 0;
}

static double ratio_percent(double before, double after) {
    return before > 0 ? 100 * (after / before - 1) : 0;
}

/* ---- totals ---- */

static void add_total(struct table *table, const char *what, double before, double after) {
    table_cell(table, what);
    table_cell(table, text_quantity(before).s);
    table_cell(table, text_quantity(after).s);
    table_figure(table, "%+.2f %%", text_shown(ratio_percent(before, after), 2));
}

static void print_totals(const struct compare_report *report, const struct page *page) {
    const struct compared_run *old = &report->runs[0], *new = &report->runs[1];
    struct table *table = table_new(page);
    table_column(table, "", TABLE_WORD, .gap = 0);
    table_column(table, "before", TABLE_FIGURE, .gap = 2);
    table_column(table, "after", TABLE_FIGURE, .gap = 2);
    table_column(table, "change", TABLE_FIGURE, .gap = 2);
    const bool threads = compare_has_threads(report);
    add_total(table, threads ? "elapsed cycles" : "cycles", (double)old->elapsed,
              (double)new->elapsed);
    if (threads)
        add_total(table, "cycles of all threads", (double)old->all.units / CYCLE_UNITS,
                  (double)new->all.units / CYCLE_UNITS);
    add_total(table, "instructions", (double)old->all.executions, (double)new->all.executions);
    add_total(table, "CPI", cpi(old), cpi(new));
    table_end(table);
}

static void add_spread(struct table *table, const char *what, const struct layout_spread *spread) {
    table_cell(table, what);
    table_cell(table, text_count(spread->least_cycles).s);
    table_cell(table, text_quantity(spread->median).s);
    table_cell(table, text_count(spread->most_cycles).s);
    table_figure(table, "%.2f %%", spread->percent);
}

static void print_layouts(const struct compare_report *report, const struct page *page) {
    const struct layout_difference *difference = &report->difference;
    struct table *table = table_new(page);
    table_column(table, "cycles by layout", TABLE_WORD, .gap = 0);
    table_column(table, "least", TABLE_FIGURE, .gap = 2);
    table_column(table, "median", TABLE_FIGURE, .gap = 2);
    table_column(table, "most", TABLE_FIGURE, .gap = 2);
    table_column(table, "spread", TABLE_FIGURE, .gap = 2);
    add_spread(table, "before", &report->spreads[0]);
    add_spread(table, "after", &report->spreads[1]);
    table_cell(table, "change under each");
    table_figure(table, "%+.2f %%", text_shown(difference->least, 2));
    table_figure(table, "%+.2f %%", text_shown(difference->percent.median, 2));
    table_figure(table, "%+.2f %%", text_shown(difference->most, 2));
    table_cell(table, "");
    fputc('\n', page->file);
    table_end(table);
}

/* Changes in percent of all cycles before, so that they sum to that of all. */
static void print_causes(const struct compare_report *report, const struct page *page) {
    const struct compared_cost *old = &report->runs[0].all, *new = &report->runs[1].all;
    struct table *table = table_new(page);
    table_column(table, "cycles by event", TABLE_WORD, .gap = 0);
    table_column(table, "before", TABLE_FIGURE, .gap = 2);
    table_column(table, "after", TABLE_FIGURE, .gap = 2);
    table_column(table, "of all", TABLE_FIGURE, .gap = 2);
    for (int i = COMPONENT_COUNT - 1; i >= 0; i--) {
        if (!old->causes[i] && !new->causes[i])
            continue;
        table_cell(table, component_name(i));
        table_cell(table, text_cycles(old->causes[i]).s);
        table_cell(table, text_cycles(new->causes[i]).s);
        const int64_t more = (int64_t) new->causes[i] - (int64_t)old->causes[i];
        table_figure(table, "%+.2f %%", text_shown(compare_percent(report, more), 2));
    }
    fputc('\n', page->file);
    table_end(table);
}

/* ---- functions ---- */

static void add_side(struct table *table, const struct compared_function *function) {
    table_cell(table, function ? text_cycles(function->cost.units).s : "-");
}

static void print_changes(const struct compare_report *report, const struct page *page,
                          const struct compared_change *changes, size_t count, size_t total,
                          bool python) {
    struct table *table = table_new(page);
    table_column(table, " change", TABLE_FIGURE, .gap = 0);
    table_column(table, "before", TABLE_FIGURE, .gap = 2);
    table_column(table, "after", TABLE_FIGURE, .gap = 2);
    table_column(table, python ? "Python function" : "function", TABLE_NAME, .gap = 2, .least = 20);
    table_column(table, "most of it", TABLE_WORD, .gap = 2);
    table_column(table, "at", TABLE_PATH, .gap = 2, .least = 12);
    table_column(table, python ? "text" : "instruction", TABLE_TEXT, .gap = 2, .least = 12,
                 .rank = 1);
    for (size_t i = 0; i < count; i++) {
        const struct compared_change *change = &changes[i];
        const struct compared_line *line = change->lines[1] ? change->lines[1] : change->lines[0];
        char reason[CHANGE_REASON_BYTES], place[CHANGE_PLACE_BYTES];
        compare_reason(change, reason, sizeof reason);
        compare_place(change, place, sizeof place);
        table_figure(table, "%+.2f %%", text_shown(compare_percent(report, change->units), 2));
        add_side(table, change->sides[0]);
        add_side(table, change->sides[1]);
        table_cell(table, compare_function(change));
        table_cell(table, reason);
        table_cell(table, place);
        table_cell(table, line ? line->place->text : "");
    }
    table_more(table, 7, total - count);
    fputc('\n', page->file);
    table_end(table);
}

void compare_report_tables(const struct compare_report *report, const struct page *page) {
    print_totals(report, page);
    if (report->difference.count)
        print_layouts(report, page);
    print_causes(report, page);
    if (report->python_count)
        print_changes(report, page, report->compared_python.changes, report->python_count,
                      report->python_total, true);
    if (report->count)
        print_changes(report, page, report->compared.changes, report->count, report->total, false);
    report_text_foot(&report->report, page);
}

void compare_report_text(const struct compare_report *report, const struct page *page) {
    static const char *const SIDES[] = {"before: ", "after:  "};
    char *sentence = report->sentence;
    page_wrap(page, sentence, NULL, page->bold, "  ");
    fprintf(page->file, "%s\n", page->plain);
    for (int side = 0; side < 2; side++) {
        fputs(SIDES[side], page->file);
        page_clip(page, report->runs[side].title, page->columns - 8);
        fputc('\n', page->file);
    }
    const char *const machines[] = {report->runs[0].machine, report->runs[1].machine};
    if (!strcmp(machines[0], machines[1]))
        fprintf(page->file, "machine %s\n", machines[0]);
    else
        fprintf(page->file, "machines %s before, %s after\n", machines[0], machines[1]);
    report_text_chosen(&report->chosen, page);
    fputc('\n', page->file);
    compare_report_tables(report, page);
}

/* ---- Markdown ---- */

void compare_put_cell(const char *text, FILE *file) {
    char clean[4096];
    if (!*text) {
        fputs("| ", file);
        return;
    }
    fputs("| `", file);
    for (const char *at = text_clean(clean, sizeof clean, text); *at; at++)
        if (*at == '|')
            fputs("\\|", file);
        else if (*at != '`')
            fputc(*at, file);
    fputs("` ", file);
}

static void put_markdown_changes(const struct compare_report *report,
                                 const struct compared_change *changes, size_t count,
                                 const char *what, FILE *file) {
    if (count)
        fprintf(file, "| change | %s | most of it | at |\n|---:|---|---|---|\n", what);
    for (size_t i = 0; i < count; i++) {
        const struct compared_change *change = &changes[i];
        char reason[CHANGE_REASON_BYTES], place[CHANGE_PLACE_BYTES];
        compare_reason(change, reason, sizeof reason);
        compare_place(change, place, sizeof place);
        fprintf(file, "| %+.2f %% ", text_shown(compare_percent(report, change->units), 2));
        compare_put_cell(compare_function(change), file);
        fprintf(file, "| %s ", reason);
        compare_put_cell(place, file);
        fputs("|\n", file);
    }
}

void compare_report_markdown(const struct compare_report *report, FILE *file) {
    char clean[4096];
    fprintf(file, "**%s**\n\n", text_clean(clean, sizeof clean, report->sentence));
    compare_report_markdown_tables(report, file);
}

void compare_report_markdown_tables(const struct compare_report *report, FILE *file) {
    const struct compared_run *old = &report->runs[0], *new = &report->runs[1];
    fputs("| | before | after | change |\n|---|---:|---:|---:|\n", file);
    fprintf(file, "| %s | %s ", compare_has_threads(report) ? "elapsed cycles" : "cycles",
            text_count(old->elapsed).s);
    fprintf(file, "| %s | %+.2f %% |\n", text_count(new->elapsed).s,
            text_shown(report->percent, 2));
    fprintf(file, "| instructions | %s ", text_count(old->all.executions).s);
    fprintf(file, "| %s | %+.2f %% |\n\n", text_count(new->all.executions).s,
            text_shown(ratio_percent((double)old->all.executions, (double)new->all.executions), 2));
    put_markdown_changes(report, report->compared_python.changes, report->python_count,
                         "Python function", file);
    if (report->python_count && report->count)
        fputc('\n', file);
    put_markdown_changes(report, report->compared.changes, report->count, "function", file);
}
