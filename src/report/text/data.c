/* The table of data objects. */
#include <string.h>

#include "report/data_names.h"
#include "report/report.h"
#include "report/table.h"

enum { LIST_BYTES = 1024 };

static const char *size_of(const struct data_row *row, struct text *text) {
    if (!row->size)
        return "";
    *text = text_bytes(row->size);
    return text->s;
}

static void print_heading(const struct report *report, const struct page *page) {
    const struct data_rows *data = &report->data;
    const double total = (double)report->simulation->cycles * CYCLE_UNITS;
    char rest[256];
    snprintf(rest, sizeof rest, "%s %% of all; %s %% of it has an object",
             text_percent((double)data->units, total).s,
             text_percent((double)(data->units - data->unknown), (double)data->units).s);
    page_heading(page, "cycles of misses by data:", rest);
}

/* Why there are more than those of fields, which are misses of data alone. */
static void print_kinds(const struct report *report, const struct page *page) {
    const struct data_rows *data = &report->data;
    const double total = (double)report->simulation->cycles * CYCLE_UNITS;
    page_print(page,
               "misses of data, which --by field shows, %s %%; without one, a store queue full, "
               "forwarding, order, another core's line %s %%; misses of code %s %%",
               text_percent((double)data->missed, total).s,
               text_percent((double)(data->units - data->missed - data->code), total).s,
               text_percent((double)data->code, total).s);
}

void report_text_data(const struct report *report, const struct page *page) {
    static const struct table_column COLUMNS[] = {
        {"  share", TABLE_FIGURE, .gap = 0},
        {"of misses", TABLE_FIGURE, .gap = 1, .rank = 2},
        {"what", TABLE_WORD, .gap = 2},
        {"object", TABLE_TEXT, .gap = 2, .least = 40},
        {"size", TABLE_FIGURE, .gap = 2, .rank = 3},
        {"of", TABLE_PATH, .gap = 2, .least = 10, .rank = 4},
        {"cycle stack, %", TABLE_LIST, .gap = 2, .least = 16, .rank = 1}};
    const struct data_rows *data = &report->data;
    const double total = (double)report->simulation->cycles * CYCLE_UNITS;
    print_heading(report, page);
    if (!data->total)
        return;
    print_kinds(report, page);
    struct table *table = table_with(page, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
    for (uint32_t i = 0; i < data->count; i++) {
        const struct data_row *row = &data->rows[i];
        char list[LIST_BYTES];
        struct text number;
        table_figure(table, "%s %%", text_percent((double)row->units, total).s);
        table_figure(table, "%s %%", text_percent((double)row->units, (double)data->units).s);
        table_cell(table, object_kind_name(row->kind));
        table_cell(table, row->name);
        table_cell(table, size_of(row, &number));
        table_cell(table, row->image && strcmp(row->image, row->name) ? row->image : "");
        report_text_parts(&row->stack, total, list, sizeof list);
        table_cell(table, list);
    }
    table_more(table, 9, data->total - data->count);
    table_end(table);
}
