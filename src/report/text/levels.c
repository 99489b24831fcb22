/* Top-down levels for people: the tree of the whole run, then rows with their first level. */
#include <inttypes.h>
#include <stdlib.h>

#include "report/levels.h"
#include "report/table.h"
#include "util/file_name.h"

enum { NAME_BYTES = 4096, FIRST_LEVELS = 4, INDENT = 2, NAME_COLUMNS = 26 };

/* Levels of which nothing would be seen are left out, but the first. */
static void print_tree(const struct levels *levels, const struct page *page) {
    char title[128];
    snprintf(title, sizeof title, " (%" PRIu32 " in a cycle)", levels->width);
    page_heading(page, "slots by top-down level", title);
    for (uint32_t i = 0; i < slot_level_count; i++) {
        const struct slot_level *level = &slot_levels[i];
        const uint64_t slots = slot_level_slots(level, levels->classes);
        const unsigned indent = INDENT * (level->depth - 1u);
        char line[NAME_BYTES];
        if (level->depth > 1 && (double)slots < 0.0005 * (double)levels->slots)
            continue;
        const int used =
            snprintf(line, sizeof line, " %*s%-*s %5s %%  %9s", (int)indent, "",
                     (int)(NAME_COLUMNS - indent), level->name,
                     text_percent((double)slots, (double)levels->slots).s, text_count(slots).s);
        snprintf(line + used, sizeof line - (size_t)used, "  %s", level->meaning);
        fputs(level->depth == 1 ? page->bold : "", page->file);
        page_clip(page, line, page->columns);
        fprintf(page->file, "%s\n", level->depth == 1 ? page->plain : "");
    }
}

/* The class, but Retiring, with most slots: "DRAM Latency 61.0". */
static void largest_class(const uint64_t slots[SLOT_CLASSES], double all, char *text, size_t size) {
    const struct slot_level *best = NULL;
    uint64_t most = 0;
    for (uint32_t i = 0; i < slot_level_count; i++) {
        const struct slot_level *level = &slot_levels[i];
        if (level->first != level->last || level->first == SLOT_RETIRING ||
            slots[level->first] <= most)
            continue;
        most = slots[level->first];
        best = level;
    }
    text[0] = 0;
    if (best)
        snprintf(text, size, "%s %s", best->name, text_percent((double)most, all).s);
}

static void begin_row(struct table *table, const struct levels *levels, uint64_t units,
                      const struct stack *stack) {
    uint64_t slots[SLOT_CLASSES];
    char largest[NAME_BYTES];
    levels_of_stack(stack, slots);
    table_figure(table, "%s %%", text_percent((double)units, (double)levels->slots).s);
    for (uint32_t i = 0; i < slot_level_count; i++)
        if (slot_levels[i].depth == 1)
            table_cell(
                table,
                text_percent((double)slot_level_slots(&slot_levels[i], slots), (double)units).s);
    largest_class(slots, (double)units, largest, sizeof largest);
    table_cell(table, largest);
}

static void row_name(const struct levels *levels, const struct report_row *row, char *text,
                     size_t size) {
    if (levels->by == BY_LINE && row->file)
        snprintf(text, size, "%s:%" PRIu32, file_base_name(row->file), row->line);
    else if (levels->by == BY_INSTRUCTION || (levels->by != BY_IMAGE && !row->function))
        snprintf(text, size, "%s+0x%" PRIx64, row->image, row->offset);
    else
        snprintf(text, size, "%s", levels->by == BY_IMAGE ? row->image : row->function);
}

static void loop_name(const struct loop_row *row, char *text, size_t size) {
    enum { DEEPEST = 8 };
    const unsigned depth = row->depth < DEEPEST ? row->depth - 1 : DEEPEST;
    char source[NAME_BYTES / 2] = "";
    if (row->file)
        snprintf(source, sizeof source, " %s:%" PRIu32, file_base_name(row->file), row->line);
    snprintf(text, size, "%*s%s+0x%" PRIx64 "%s", (int)(INDENT * depth), "",
             row->function ? row->function : row->image,
             row->function ? row->offset - row->function_offset : row->offset, source);
}

static void print_rows(const struct levels *levels, const struct page *page) {
    static const char *const PLACES[] = {[BY_FUNCTION] = "function",
                                         [BY_LINE] = "line",
                                         [BY_INSTRUCTION] = "instruction",
                                         [BY_IMAGE] = "image",
                                         [BY_LOOP] = "loop"};
    const struct table_column columns[] = {
        {"  slots", TABLE_FIGURE, .gap = 0},
        {"retir.", TABLE_FIGURE, .gap = 2},
        {" spec.", TABLE_FIGURE, .gap = 1},
        {" front", TABLE_FIGURE, .gap = 1},
        {"  back", TABLE_FIGURE, .gap = 1},
        {"largest loss", TABLE_TEXT, .gap = 2, .least = 20, .rank = 1},
        {PLACES[levels->by], levels->by == BY_LOOP ? TABLE_TEXT : TABLE_NAME, .gap = 2,
         .least = 16}};
    struct table *table = table_with(page, columns, sizeof columns / sizeof *columns);
    char name[NAME_BYTES];
    page_heading(page, "where", " (the four levels and the largest loss in % of the row's slots)");
    for (uint32_t i = 0; i < levels->rows.count; i++) {
        struct report_row row;
        rows_get(&levels->rows, i, &row);
        begin_row(table, levels, row.units, &row.stack);
        row_name(levels, &row, name, sizeof name);
        table_cell(table, name);
    }
    for (uint32_t i = 0; i < levels->loops.count; i++) {
        const struct loop_row *row = &levels->loops.rows[i];
        begin_row(table, levels, row->units, &row->stack);
        loop_name(row, name, sizeof name);
        table_cell(table, name);
    }
    const uint64_t more = levels->by == BY_LOOP ? levels->loops.total - levels->loops.count
                                                : (uint64_t)levels->rows.total - levels->rows.count;
    table_more(table, 9, more);
    table_end(table);
}

void levels_text(const struct levels *levels, const struct page *page) {
    print_tree(levels, page);
    print_rows(levels, page);
}
