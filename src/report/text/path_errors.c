/* The errors of flame graphs for people. */
#include <math.h>

#include "report/path_errors.h"
#include "report/table.h"
#include "util/text.h"

static void add_percent(double share, struct table *table) {
    table_cell(table, isnan(share) ? "-" : text_percent(share, 1).s);
}

static void add_error(double error, double floor, struct table *table) {
    char text[64];
    snprintf(text, sizeof text, "(%s)", isnan(floor) ? "-" : text_percent(floor, 1).s);
    table_figure(table, "%s %6s", isnan(error) ? "-" : text_percent(error, 1).s, text);
}

static void print_errors(const struct path_errors *errors, const struct page *page) {
    struct table *table = table_new(page);
    table_column(table, "error of call trees, % (floor)", TABLE_TEXT, .least = 18);
    table_column(table, "call path", TABLE_FIGURE, .gap = 2);
    table_column(table, "cycle stacks", TABLE_FIGURE, .gap = 2);
    table_column(table, "function with callees, at most", TABLE_FIGURE, .gap = 2);
    table_column(table, "", TABLE_NAME, .gap = 2, .least = 16);
    for (uint32_t i = 0; i < errors->count; i++) {
        const struct path_error *row = &errors->rows[i];
        table_figure(table, " %s", row->label);
        add_error(row->error, row->floor, table);
        if (isnan(row->stack_error))
            table_cell(table, "");
        else
            add_error(row->stack_error, row->stack_floor, table);
        add_percent(row->samples ? row->worst : NAN, table);
        table_cell(table,
                   row->worst > 0 ? errors->profile->procedures[row->worst_procedure].name : "");
    }
    fputc('\n', page->file);
    table_end(table);
}

/* Each function's share of all cycles with what it called: the truth, and what each profiler says.
 */
static void print_functions(const struct path_errors *errors, const struct page *page) {
    struct table *table = table_new(page);
    table_column(table, "  total", TABLE_FIGURE, .gap = 0);
    for (uint32_t i = 0; i < errors->count; i++)
        table_column(table, errors->rows[i].label, TABLE_FIGURE, .gap = 1, .rank = i + 1);
    table_column(table, "function, with all that it called", TABLE_NAME, .gap = 2, .least = 24);
    for (uint32_t i = 0; i < errors->shown; i++) {
        const uint32_t number = errors->sorted[i];
        table_figure(table, "%s", text_percent(errors->procedures[number], 1).s);
        for (uint32_t k = 0; k < errors->count; k++)
            add_percent(errors->rows[k].samples ? errors->rows[k].procedures[number] : NAN, table);
        table_cell(table, errors->profile->procedures[number].name);
    }
    table_more(table, 9, errors->total - errors->shown);
    fputc('\n', page->file);
    table_end(table);
}

void path_errors_text(const struct path_errors *errors, const struct page *page) {
    print_errors(errors, page);
    print_functions(errors, page);
}
