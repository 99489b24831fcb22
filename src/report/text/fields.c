/* The table of fields, and of what has none, by reason. */
#include <inttypes.h>

#include "report/report.h"
#include "report/table.h"
#include "util/file_name.h"

enum { NAME_BYTES = 2048, LIST_BYTES = 1024 };
#define BARE_LEAST 0.05 /* of all cycles, to say what brings debug information */

/* "struct node.next", or the reason in parentheses. */
static void name_of(const struct field_row *row, char *text, size_t size) {
    if (row->type)
        snprintf(text, size, "%s%s%s", row->type, row->field[0] && row->field[0] != '[' ? "." : "",
                 row->field);
    else
        snprintf(text, size, "(%s%s%s)", access_reason_text((enum access_reason)row->reason),
                 row->image ? " in " : "", row->image ? row->image : "");
}

static void known_line(const struct report *report, const struct page *page) {
    const struct field_rows *fields = &report->fields;
    if (fields->bare_units && (double)fields->bare_units >= BARE_LEAST * (double)fields->units)
        page_print(
            page,
            "code of %s has no debug information: compile it with -g, or install its debug symbols "
            "(Debian: find-dbgsym-packages %s), or set DEBUGINFOD_URLS",
            file_base_name(fields->bare_path), fields->bare_path);
    if (fields->miss_units)
        page_print(page,
                   "misses of data (L1, TLB, last level) take %s %% of all cycles; %s %% of these "
                   "have a type",
                   text_percent((double)fields->miss_units, (double)fields->units).s,
                   text_percent((double)fields->known_miss_units, (double)fields->miss_units).s);
}

void report_text_fields(const struct report *report, const struct page *page) {
    static const struct table_column COLUMNS[] = {
        {"  share", TABLE_FIGURE, .gap = 0},
        {"misses", TABLE_FIGURE, .gap = 1},
        {"accesses", TABLE_FIGURE, .gap = 1, .rank = 3},
        {"offset", TABLE_FIGURE, .gap = 1},
        {"size", TABLE_FIGURE, .gap = 1, .rank = 2},
        {"field", TABLE_NAME, .gap = 2, .least = 24},
        {"cycle stack, %", TABLE_LIST, .gap = 2, .least = 16, .rank = 1}};
    const double total = (double)report->simulation->cycles * CYCLE_UNITS;
    struct table *table = table_with(page, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
    fputc('\n', page->file);
    for (uint32_t i = 0; i < report->fields.count; i++) {
        const struct field_row *row = &report->fields.rows[i];
        char text[NAME_BYTES], list[LIST_BYTES];
        table_figure(table, "%s %%", text_percent((double)row->units, total).s);
        table_figure(table, "%s %%", text_percent((double)row->miss_units, total).s);
        table_cell(table, text_count(row->executions).s);
        if (row->type) {
            table_figure(table, "%" PRIu64, row->offset);
            table_figure(table, "%" PRIu64, row->size);
        } else {
            table_cell(table, "");
            table_cell(table, "");
        }
        name_of(row, text, sizeof text);
        table_cell(table, text);
        report_text_parts(&row->stack, total, list, sizeof list);
        table_cell(table, list);
    }
    table_more(table, 9, report->fields.total - report->fields.count);
    table_end(table);
    known_line(report, page);
}
