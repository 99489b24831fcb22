/* Widths: every column gets its least, or what its cells need if that is less; what is left goes to
 * the narrowest of those that need more, column by column. Where something would be cut, columns
 * without any text below their heading go first; where not even the least fits, that of highest
 * rank is left out; when none is left that may be, the widest that can be cut
 * shrinks. */
#include "report/table.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/short_name.h"
#include "util/arena.h"
#include "util/array.h"

enum { MOST_COLUMNS = 32, SMALLEST = 3 };

/* A line of text in front of a row. */
struct between {
    const char *text;
    size_t row;
};

struct table {
    const struct page *page;
    struct arena headings, texts; /* of the columns; of cells and lines */
    struct table_column columns[MOST_COLUMNS];
    unsigned needs[MOST_COLUMNS];  /* of the widest cell, or the heading */
    bool filled[MOST_COLUMNS];     /* has a cell with text in it */
    unsigned widths[MOST_COLUMNS]; /* once the heading is printed; 0: the column is left out */
    size_t column_count;
    const char **cells; /* not yet printed, row by row */
    size_t cell_count, cell_capacity;
    struct between *lines;
    size_t line_count, line_capacity;
    bool headed; /* the heading is printed */
    bool failed; /* out of memory: what was added since is missing */
};

struct table *table_new(const struct page *page) {
    struct table *table = calloc(1, sizeof *table);
    if (table)
        table->page = page;
    return table;
}

void table_free(struct table *table) {
    if (!table)
        return;
    arena_free(&table->headings);
    arena_free(&table->texts);
    free(table->cells);
    free(table->lines);
    free(table);
}

static const char *keep(struct table *table, struct arena *arena, const char *text) {
    const char *kept = arena_copy(arena, text, strlen(text));
    table->failed |= !kept;
    return kept ? kept : "";
}

void table_add_column(struct table *table, struct table_column column) {
    if (!table || table->column_count == MOST_COLUMNS)
        return;
    column.heading = keep(table, &table->headings, column.heading);
    table->needs[table->column_count] = text_columns(column.heading);
    table->columns[table->column_count++] = column;
}

void table_columns(struct table *table, const struct table_column *columns, size_t count) {
    for (size_t i = 0; i < count; i++)
        table_add_column(table, columns[i]);
}

struct table *table_with(const struct page *page, const struct table_column *columns,
                         size_t count) {
    struct table *table = table_new(page);
    table_columns(table, columns, count);
    return table;
}

/* Columns of all items side by side. */
static unsigned list_columns(const char *items) {
    unsigned columns = text_columns(items);
    for (; (items = strchr(items, '\n')); items++)
        columns++; /* two spaces in place of a character */
    return columns;
}

static void print_rows(struct table *table);

void table_cell(struct table *table, const char *text) {
    if (!table || table->failed)
        return;
    const size_t column = table->cell_count % table->column_count;
    if (column == 0 && table->cell_count >= TABLE_MEASURED * table->column_count)
        print_rows(table);
    if (!array_reserve((void **)&table->cells, &table->cell_capacity, table->cell_count + 1,
                       sizeof *table->cells)) {
        table->failed = true;
        return;
    }
    table->cells[table->cell_count++] = keep(table, &table->texts, text);
    table->filled[column] |= text[0] != 0;
    unsigned columns =
        table->columns[column].kind == TABLE_LIST ? list_columns(text) : text_columns(text);
    if (columns > table->needs[column])
        table->needs[column] = columns;
}

void table_figure(struct table *table, const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    table_cell(table, text);
}

void table_line(struct table *table, const char *text) {
    if (!table || table->failed)
        return;
    if (!array_reserve((void **)&table->lines, &table->line_capacity, table->line_count + 1,
                       sizeof *table->lines)) {
        table->failed = true;
        return;
    }
    table->lines[table->line_count++] =
        (struct between){keep(table, &table->texts, text), table->cell_count / table->column_count};
}

void table_more(struct table *table, unsigned indent, uint64_t count) {
    char text[64];
    snprintf(text, sizeof text, "%*s%" PRIu64 " more (--top 0 shows all)", (int)indent, "", count);
    if (count)
        table_line(table, text);
}

/* ---- widths ---- */

struct layout {
    unsigned widths[MOST_COLUMNS];
};

static bool can_shrink(const struct table_column *column) {
    return column->kind > TABLE_WORD;
}

static unsigned least_of(const struct table *table, size_t column) {
    const struct table_column *is = &table->columns[column];
    unsigned needs = table->needs[column];
    return is->least && is->least < needs && can_shrink(is) ? is->least : needs;
}

static unsigned taken(const struct table *table, const struct layout *layout) {
    return sum_over(unsigned, i, table->column_count,
                    layout->widths[i] ? table->columns[i].gap + layout->widths[i] : 0);
}

static struct layout least_layout(const struct table *table) {
    struct layout layout = {{0}};
    for (size_t i = 0; i < table->column_count; i++)
        layout.widths[i] = least_of(table, i);
    return layout;
}

static unsigned room_of(const struct table *table) {
    return table->page->table_columns ? table->page->table_columns : table->page->columns;
}

bool table_fits(const struct table *table) {
    const struct layout layout = table ? least_layout(table) : (struct layout){{0}};
    return !table || taken(table, &layout) <= room_of(table);
}

/* How much a column is what is looked for; 0: not at all. */
typedef unsigned column_measure(const struct table *table, const struct layout *layout, size_t at);

static unsigned left_out_first(const struct table *table, const struct layout *layout, size_t at) {
    return layout->widths[at] ? table->columns[at].rank : 0;
}

static unsigned widest(const struct table *table, const struct layout *layout, size_t at) {
    const unsigned width = layout->widths[at];
    return can_shrink(&table->columns[at]) && width > SMALLEST ? width : 0;
}

static unsigned narrowest(const struct table *table, const struct layout *layout, size_t at) {
    const unsigned width = layout->widths[at];
    return width && width < table->needs[at] ? UINT32_MAX - width : 0;
}

/* The first column that is it most. False: none is. */
static bool find_column(const struct table *table, const struct layout *layout,
                        column_measure *measure, size_t *found) {
    unsigned most = 0;
    for (size_t i = 0; i < table->column_count; i++) {
        const unsigned much = measure(table, layout, i);
        if (much > most) {
            most = much;
            *found = i;
        }
    }
    return most > 0;
}

/* Gives what is left to columns that need more. */
static void grow(const struct table *table, struct layout *layout) {
    const unsigned columns = room_of(table);
    size_t i;
    while (taken(table, layout) < columns && find_column(table, layout, narrowest, &i))
        layout->widths[i]++;
}

/* Of a table that is printed while it is filled, text may come later. */
static void leave_out_empty(const struct table *table, struct layout *layout) {
    const size_t rows = table->cell_count / table->column_count;
    struct layout whole;
    memcpy(whole.widths, table->needs, sizeof whole.widths);
    if (!rows || rows >= TABLE_MEASURED || taken(table, &whole) <= room_of(table))
        return;
    for (size_t i = 0; i < table->column_count; i++)
        if (!table->filled[i])
            layout->widths[i] = 0;
}

static void lay_out(struct table *table) {
    const unsigned columns = room_of(table);
    struct layout layout = least_layout(table);
    size_t i;
    leave_out_empty(table, &layout);
    while (taken(table, &layout) > columns && find_column(table, &layout, left_out_first, &i))
        layout.widths[i] = 0;
    while (taken(table, &layout) > columns && find_column(table, &layout, widest, &i))
        layout.widths[i]--;
    grow(table, &layout);
    memcpy(table->widths, layout.widths, sizeof table->widths);
}

/* ---- printing ---- */

/* A line, with the spaces that came since its last character. */
struct line {
    const struct page *page;
    unsigned spaces;
};

static void put(struct line *line, const char *text) {
    if (!*text)
        return;
    fprintf(line->page->file, "%*s%s", (int)line->spaces, "", text);
    line->spaces = 0;
}

/* As many items as there is room for, of the first as much. */
static void fit_list(const char *items, unsigned width, char *text, size_t size) {
    unsigned used = 0;
    text[0] = 0;
    for (bool first = true; *items; first = false) {
        char item[256];
        size_t length = strcspn(items, "\n");
        snprintf(item, sizeof item, "%.*s", (int)length, items);
        bool last = !items[length];
        unsigned columns = text_columns(item) + (first ? 0 : 2);
        if (!first && used + columns + (last ? 0 : 2) > width) {
            if (used + 2 <= width)
                strncat(text, " …", size - strlen(text) - 1);
            return;
        }
        if (first)
            text_clip(text, size, item, width);
        else
            snprintf(text + strlen(text), size - strlen(text), "  %s", item);
        used += columns;
        items += length + !last;
    }
}

static void put_cell(struct line *line, const struct table_column *column, const char *cell,
                     unsigned width) {
    char text[4096];
    switch (column->kind) {
    case TABLE_PATH:
        page_fit_path(text, sizeof text, cell, width);
        break;
    case TABLE_LIST:
        fit_list(cell, width, text, sizeof text);
        break;
    default:
        text_clip(text, sizeof text, cell, width);
    }
    unsigned columns = text_columns(text);
    unsigned rest = columns < width ? width - columns : 0;
    line->spaces += column->kind == TABLE_FIGURE ? rest : 0;
    put(line, text);
    line->spaces += column->kind == TABLE_FIGURE ? 0 : rest;
}

static void print_heading(const struct table *table) {
    struct line line = {.page = table->page};
    fputs(table->page->bold, table->page->file);
    for (size_t i = 0; i < table->column_count; i++) {
        struct table_column column = table->columns[i];
        if (!table->widths[i])
            continue;
        column.kind = column.kind == TABLE_FIGURE ? TABLE_FIGURE : TABLE_TEXT;
        line.spaces += column.gap;
        put_cell(&line, &column, column.heading, table->widths[i]);
    }
    fprintf(table->page->file, "%s\n", table->page->plain);
}

/* Replaces the names of a column by those that are shown; it needs no more than these while its
 * heading is not printed. */
static void show_names(struct table *table, size_t column) {
    const size_t rows = table->cell_count / table->column_count;
    const char **names = calloc(rows + 1, sizeof *names);
    for (size_t i = 0; names && i < rows; i++)
        names[i] = table->cells[i * table->column_count + column];
    unsigned needed = text_columns(table->columns[column].heading);
    if (names && short_names(names, rows, table->widths[column], &table->texts))
        for (size_t i = 0; i < rows; i++) {
            table->cells[i * table->column_count + column] = names[i];
            needed = text_columns(names[i]) > needed ? text_columns(names[i]) : needed;
        }
    if (!table->headed && names && needed < table->widths[column])
        table->widths[column] = table->needs[column] = needed;
    free(names);
}

static void print_row(const struct table *table, const char *const *cells) {
    struct line line = {.page = table->page};
    for (size_t i = 0; i < table->column_count; i++) {
        if (!table->widths[i])
            continue;
        line.spaces += table->columns[i].gap;
        put_cell(&line, &table->columns[i], cells[i], table->widths[i]);
    }
    fputc('\n', table->page->file);
}

static void print_line(const struct table *table, const char *text) {
    fputs(*text ? table->page->dim : "", table->page->file);
    page_clip(table->page, text, room_of(table));
    fprintf(table->page->file, "%s\n", *text ? table->page->plain : "");
}

/* What shortened names have left. */
static void regrow(struct table *table) {
    struct layout layout;
    memcpy(layout.widths, table->widths, sizeof layout.widths);
    grow(table, &layout);
    memcpy(table->widths, layout.widths, sizeof table->widths);
}

/* Those that are not printed yet, and forgets them. */
static void print_rows(struct table *table) {
    const size_t rows = table->cell_count / table->column_count;
    size_t line = 0;
    if (!table->headed)
        lay_out(table);
    for (size_t i = 0; i < table->column_count; i++)
        if (table->columns[i].kind == TABLE_NAME && table->widths[i])
            show_names(table, i);
    if (!table->headed) {
        regrow(table);
        print_heading(table);
        table->headed = true;
    }
    for (size_t row = 0; row <= rows; row++) {
        for (; line < table->line_count && table->lines[line].row == row; line++)
            print_line(table, table->lines[line].text);
        if (row < rows)
            print_row(table, table->cells + row * table->column_count);
    }
    table->cell_count = table->line_count = 0;
    arena_free(&table->texts);
}

void table_print(struct table *table) {
    if (!table)
        return;
    print_rows(table);
    if (table->failed)
        fputs("(out of memory for the rest)\n", table->page->file);
}

void table_end(struct table *table) {
    table_print(table);
    table_free(table);
}
