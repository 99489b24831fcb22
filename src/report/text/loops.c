/* The table of loops: nests, each loop below the one around it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "report/short_name.h"
#include "report/table.h"
#include "util/file_name.h"

enum { NAME_BYTES = 4096, LIST_BYTES = 1024, INDENT_MOST = 8 };

static const char *per_round(double sum, const struct loop_row *row, struct text *text) {
    if (!row->rounds)
        return "?";
    *text = text_quantity(sum / (double)row->rounds);
    return text->s;
}

/* Indented by what is around it: "longest_match+0x1c deflate.c:1148". */
static void place_of(const struct loop_row *row, const char *function, char *text, size_t size) {
    const unsigned depth = row->depth - 1 < INDENT_MOST ? row->depth - 1 : INDENT_MOST;
    char source[NAME_BYTES] = "";
    if (row->file)
        snprintf(source, sizeof source, " %s:%" PRIu32, file_base_name(row->file), row->line);
    if (function)
        snprintf(text, size, "%*s%s+0x%" PRIx64 "%s", 2 * depth, "", function,
                 row->offset - row->function_offset, source);
    else
        snprintf(text, size, "%*s%s+0x%" PRIx64 "%s", 2 * depth, "", row->image, row->offset,
                 source);
}

/* The rows' functions, so short that there is room for the rest behind them; NULL: out of memory.
 */
static const char **names_of(const struct loop_rows *loops, const struct page *page,
                             struct arena *arena) {
    enum { LEAST = 16 };
    const unsigned part = page->table_columns / 5;
    const char **names = calloc(loops->count + 1, sizeof *names);
    const char **known = malloc((loops->count + 1) * sizeof *known);
    size_t count = 0;
    for (uint32_t i = 0; known && i < loops->count; i++)
        if (loops->rows[i].function)
            known[count++] = loops->rows[i].function;
    const bool good = names && known &&
                      short_names(known, count,
                                  !part          ? PAGE_WIDE
                                  : part < LEAST ? LEAST
                                                 : part,
                                  arena);
    for (uint32_t i = 0, k = 0; good && i < loops->count; i++)
        names[i] = loops->rows[i].function ? known[k++] : NULL;
    free(known);
    if (!good)
        free(names);
    return good ? names : NULL;
}

void report_text_loops(const struct report *report, const struct page *page) {
    static const struct table_column COLUMNS[] = {
        {"  share", TABLE_FIGURE, .gap = 0},
        {"  self", TABLE_FIGURE, .gap = 1, .rank = 2},
        {" calls", TABLE_FIGURE, .gap = 1, .rank = 4},
        {"rounds", TABLE_FIGURE, .gap = 2},
        {"/entry", TABLE_FIGURE, .gap = 1, .rank = 3},
        {"instr./round", TABLE_FIGURE, .gap = 1},
        {"cycles/round", TABLE_FIGURE, .gap = 1},
        {"loop", TABLE_TEXT, .gap = 2, .least = 24},
        {"cycle stack, %", TABLE_LIST, .gap = 2, .least = 16, .rank = 1}};
    const double total = (double)report->simulation->cycles * CYCLE_UNITS;
    struct table *table = table_with(page, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
    struct arena arena = {0};
    const char **names = names_of(&report->loops, page, &arena);
    fputc('\n', page->file);
    for (uint32_t i = 0; i < report->loops.count; i++) {
        const struct loop_row *row = &report->loops.rows[i];
        char text[NAME_BYTES], list[LIST_BYTES];
        struct text number;
        table_figure(table, "%s %%", text_percent((double)row->units, total).s);
        table_figure(table, "%s %%", text_percent((double)row->self_units, total).s);
        if (row->called_units < 0)
            table_cell(table, "?");
        else
            table_figure(table, "%s %%", text_percent(row->called_units, total).s);
        table_cell(table, text_count(row->rounds).s);
        table_cell(table,
                   row->entries >= 0.5 ? text_quantity((double)row->rounds / row->entries).s : "?");
        table_cell(table, per_round((double)row->instructions, row, &number));
        table_cell(table, per_round((double)row->units / CYCLE_UNITS, row, &number));
        place_of(row, names ? names[i] : row->function, text, sizeof text);
        table_cell(table, text);
        report_text_parts(&row->stack, total, list, sizeof list);
        table_cell(table, list);
    }
    table_more(table, 9, report->loops.total - report->loops.count);
    table_end(table);
    free(names);
    arena_free(&arena);
}
