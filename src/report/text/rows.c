/* The tables of the report: functions, lines or images, and instructions. The components of a cycle
 * stack have a column each while names can still be read beside them; the least are summed. */
#include <inttypes.h>

#include "report/report.h"
#include "report/short_name.h"
#include "report/table.h"
#include "util/file_name.h"

enum { NAME_BYTES = 4096, NAME_LEAST = 24, SOURCE_LEAST = 12, FIRST_ROWS = 100 };
#define LEAST_COLUMN 0.01   /* of all cycles, for a column of its own */
#define LEAST_OTHER  0.0005 /* for "other" */

static double total_units(const struct report *report) {
    return (double)report->simulation->cycles * CYCLE_UNITS;
}

static double ratio(double part, double whole) {
    return whole > 0 ? part / whole : 0;
}

/* ---- components ---- */

/* Those with a column of their own, in order of size; the others are one sum. */
struct columns {
    enum component shown[COMPONENT_COUNT];
    uint32_t count;
    bool other;
};

/* As many as are worth a column, but `most`. */
static struct columns choose_columns(const struct report *report, uint32_t most) {
    uint64_t units[COMPONENT_COUNT];
    stack_components(&report->stack, units);
    double total = total_units(report);
    struct columns columns = {0};
    bool used[COMPONENT_COUNT] = {false};
    while (columns.count < most) {
        int best = -1;
        for (int i = 0; i < COMPONENT_COUNT; i++)
            if (!used[i] && (best < 0 || units[i] > units[best]))
                best = i;
        if (best < 0 || ratio((double)units[best], total) < LEAST_COLUMN)
            break;
        used[best] = true;
        columns.shown[columns.count++] = (enum component)best;
    }
    for (int i = 0; i < COMPONENT_COUNT; i++)
        columns.other |= !used[i] && ratio((double)units[i], total) >= LEAST_OTHER;
    return columns;
}

static void component_columns(struct table *table, const struct columns *columns) {
    for (uint32_t i = 0; i < columns->count; i++) {
        char heading[32];
        snprintf(heading, sizeof heading, "%5s", component_name(columns->shown[i]));
        table_column(table, heading, TABLE_FIGURE, .gap = 1);
    }
    if (columns->other)
        table_column(table, "other", TABLE_FIGURE, .gap = 1);
}

static void component_cells(struct table *table, const struct columns *columns,
                            const struct stack *stack, double total) {
    uint64_t units[COMPONENT_COUNT], rest = 0;
    stack_components(stack, units);
    for (uint32_t i = 0; i < columns->count; i++) {
        uint64_t part = units[columns->shown[i]];
        table_cell(table, part ? text_percent((double)part, total).s : "·");
        units[columns->shown[i]] = 0;
    }
    for (int i = 0; i < COMPONENT_COUNT; i++)
        rest += units[i];
    if (columns->other)
        table_cell(table, text_percent((double)rest, total).s);
}

/* ---- names ---- */

static void source_of(const struct report_row *row, const char *unknown, char *text, size_t size) {
    if (row->file)
        snprintf(text, size, "%s:%" PRIu32, file_base_name(row->file), row->line);
    else
        snprintf(text, size, "%s", row->function ? unknown : "[no symbols]");
}

static void place_of(const struct report_row *row, char *text, size_t size) {
    snprintf(text, size, "%s+0x%" PRIx64, row->image, row->offset);
}

static void name_of(const struct report *report, const struct report_row *row, bool is_function,
                    char *text, size_t size) {
    if (!is_function && report->by == BY_IMAGE)
        snprintf(text, size, "%s", row->image);
    else if (row->function)
        snprintf(text, size, "%s", row->function);
    else if (row->is_outside)
        snprintf(text, size, "%s%s", row->image, short_name_outside);
    else
        place_of(row, text, size);
}

/* ---- functions, lines, images ---- */

static void row_cells(struct table *table, const struct report *report, bool is_function,
                      const struct columns *columns, const struct report_row *row) {
    char text[NAME_BYTES];
    double total = total_units(report);
    table_figure(table, "%s %%", text_percent((double)row->units, total).s);
    table_cell(table,
               text_quantity(ratio((double)row->units / CYCLE_UNITS, (double)row->executions)).s);
    name_of(report, row, is_function, text, sizeof text);
    table_cell(table, text);
    if (is_function || report->by == BY_LINE) {
        source_of(row, row->image, text, sizeof text);
        table_cell(table, text);
    }
    component_cells(table, columns, &row->stack, total);
}

/* With the first `count` of the rows. */
static struct table *make_table(const struct report *report, const struct report_rows *rows,
                                bool is_function, uint32_t count, uint32_t components,
                                const struct page *page) {
    const struct columns columns = choose_columns(report, components);
    const bool has_source = is_function || report->by == BY_LINE;
    struct table *table = table_new(page);
    table_column(table, "  share", TABLE_FIGURE, .gap = 0);
    table_column(table, "  CPI", TABLE_FIGURE, .gap = 2);
    table_column(table, has_source ? "function" : "image", TABLE_NAME, .gap = 2,
                 .least = NAME_LEAST);
    if (has_source)
        table_column(table, "source", TABLE_PATH, .gap = 2, .least = SOURCE_LEAST);
    component_columns(table, &columns);
    for (uint32_t i = 0; i < count; i++) {
        struct report_row row;
        rows_get(rows, i, &row);
        row_cells(table, report, is_function, &columns, &row);
    }
    return table;
}

void report_text_rows(const struct report *report, const struct page *page) {
    const bool is_function = report->by == BY_FUNCTION;
    const struct report_rows *rows = is_function ? &report->functions : &report->grouped;
    const uint32_t first = rows->count < FIRST_ROWS ? rows->count : FIRST_ROWS;
    uint32_t components = COMPONENT_COUNT;
    for (bool fits = false; !fits && components > 1; components -= !fits) {
        struct table *table = make_table(report, rows, is_function, first, components, page);
        fits = table_fits(table);
        table_free(table);
    }
    struct table *table = make_table(report, rows, is_function, rows->count, components, page);
    table_more(table, 9, rows->total - rows->count);
    fputc('\n', page->file);
    table_end(table);
}

/* ---- instructions ---- */

void report_text_parts(const struct stack *stack, double total, char *list, size_t size) {
    size_t used = 0;
    list[0] = 0;
    for (uint32_t i = 0; i < stack->count && used < size; i++) {
        char name[128];
        psv_format(stack->parts[i].psv, name, sizeof name);
        used += (size_t)snprintf(list + used, size - used, "%s%s %s", i ? "\n" : "", name,
                                 text_percent((double)stack->parts[i].units, total).s);
    }
}

void report_text_instructions(const struct report *report, const struct page *page) {
    static const struct table_column COLUMNS[] = {
        {"  share", TABLE_FIGURE, .gap = 0},
        {"instruction", TABLE_NAME, .gap = 2, .least = 18},
        {"source", TABLE_PATH, .gap = 2, .least = SOURCE_LEAST},
        {"text", TABLE_TEXT, .gap = 2, .least = 19},
        {"cycle stack, %", TABLE_LIST, .gap = 2, .least = 16}};
    const struct report_rows *rows = &report->instructions;
    const double total = total_units(report);
    struct table *table = table_with(page, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
    fputc('\n', page->file);
    for (uint32_t i = 0; i < rows->count; i++) {
        struct report_row row;
        char text[NAME_BYTES];
        rows_get(rows, i, &row);
        table_figure(table, "%s %%", text_percent((double)row.units, total).s);
        place_of(&row, text, sizeof text);
        table_cell(table, text);
        source_of(&row, row.function, text, sizeof text);
        table_cell(table, text);
        table_cell(table, row.text);
        report_text_parts(&row.stack, total, text, sizeof text);
        table_cell(table, text);
    }
    char more[64];
    snprintf(more, sizeof more, "         %" PRIu32 " more", rows->total - rows->count);
    if (rows->total > rows->count)
        table_line(table, more);
    table_end(table);
}
