/* The tables of Python's lines and functions. */
#include <inttypes.h>

#include "program/source_text.h"
#include "report/python_report.h"
#include "report/table.h"
#include "util/file_name.h"
#include "util/text.h"

enum { NAME_BYTES = 2048, LIST_BYTES = 1024 };

static double total_units(const struct report *report) {
    return (double)report->simulation->cycles * CYCLE_UNITS;
}

static void put_cost(struct table *table, const struct python_row *row, double total) {
    table_figure(table, "%s %%", text_percent((double)row->units, total).s);
    table_cell(table,
               row->executions
                   ? text_quantity((double)row->units / CYCLE_UNITS / (double)row->executions).s
                   : "");
}

static void put_place(struct table *table, const struct python_row *row) {
    char text[NAME_BYTES];
    snprintf(text, sizeof text, "%s:%" PRIu32, file_base_name(row->path), row->line);
    table_cell(table, row->path[0] ? text : "[not known]");
}

static void put_stack(struct table *table, const struct python_row *row, double total) {
    char list[LIST_BYTES];
    report_text_parts(&row->stack, total, list, sizeof list);
    table_cell(table, list);
}

static void draw_lines(const struct report *report, const struct page *page) {
    static const struct table_column COLUMNS[] = {
        {"  share", TABLE_FIGURE, .gap = 0},
        {"  CPI", TABLE_FIGURE, .gap = 2, .rank = 2},
        {"Python line", TABLE_PATH, .gap = 2, .least = 12},
        {"text", TABLE_TEXT, .gap = 2, .least = 24},
        {"function", TABLE_NAME, .gap = 2, .least = 12, .rank = 1},
        {"cycle stack, %", TABLE_LIST, .gap = 2, .least = 16}};
    const struct python_rows *rows = report->python;
    const double total = total_units(report);
    struct table *table = table_with(page, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
    struct source_text *sources = source_text_new();
    for (uint32_t i = 0; i < rows->line_count; i++) {
        const struct python_row *row = &rows->lines[i];
        const char *text = sources ? source_text_line(sources, row->path, row->line) : NULL;
        put_cost(table, row, total);
        put_place(table, row);
        table_cell(table, text ? text : "");
        table_cell(table, row->function);
        put_stack(table, row, total);
    }
    source_text_free(sources);
    table_more(table, 9, rows->line_total - rows->line_count);
    table_end(table);
}

/* Parts of a run do not tell how often a function was entered: one of a few calls would get many,
 * or none. */
static bool calls_are_known(const struct simulation *simulation) {
    return !simulation->regions.count && !simulation->levels;
}

static void draw_functions(const struct report *report, const struct page *page) {
    static const struct table_column CALLS = {" calls", TABLE_FIGURE, .gap = 2, .rank = 1},
                                     COST[] = {{"  share", TABLE_FIGURE, .gap = 0},
                                               {"  CPI", TABLE_FIGURE, .gap = 2, .rank = 2}},
                                     FUNCTION[] = {
                                         {"Python function", TABLE_NAME, .gap = 2, .least = 24},
                                         {"source", TABLE_PATH, .gap = 2, .least = 12},
                                         {"cycle stack, %", TABLE_LIST, .gap = 2, .least = 16}};
    const struct python_rows *rows = report->python;
    const double total = total_units(report);
    const bool calls = calls_are_known(report->simulation);
    struct table *table = table_with(page, COST, sizeof COST / sizeof *COST);
    table_columns(table, &CALLS, calls);
    table_columns(table, FUNCTION, sizeof FUNCTION / sizeof *FUNCTION);
    for (uint32_t i = 0; i < rows->function_count; i++) {
        const struct python_row *row = &rows->functions[i];
        put_cost(table, row, total);
        if (calls)
            table_cell(table, text_count(row->calls).s);
        table_cell(table, row->function);
        put_place(table, row);
        put_stack(table, row, total);
    }
    table_more(table, 9, rows->function_total - rows->function_count);
    table_end(table);
}

void python_report_draw(const struct report *report, const struct page *page) {
    const struct python_rows *rows = report->python;
    if (!rows || !rows->line_total)
        return;
    fputc('\n', page->file);
    page_print(page,
               "Python: %s %% of the cycles are of its lines, each with what it calls that is not "
               "Python; the rest starts, compiles and ends",
               text_percent((double)rows->units, total_units(report)).s);
    draw_lines(report, page);
    fputc('\n', page->file);
    draw_functions(report, page);
}
