/* A table of a report. Its columns take what their cells need; where the page is narrower, empty
 * columns are left out and names shortened, and before they can no longer be read the least columns
 * are left out.
 *
 *     struct table *table = table_new(page);
 *     table_column(table, "  share", TABLE_FIGURE, .gap = 0);
 *     table_column(table, "function", TABLE_NAME, .gap = 2, .least = 24);
 *     table_cell(table, "61.2 %"); table_cell(table, "longest_match");      a row
 *     table_end(table);
 *
 * Widths are those that the first TABLE_MEASURED rows need; a longer table is printed while it is
 * filled, so that one of a million instructions takes no more memory. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/page.h"

enum table_kind {
    TABLE_FIGURE, /* at the right, never cut */
    TABLE_WORD,   /* at the left, never cut */
    TABLE_TEXT,   /* at the left, cut at its end */
    TABLE_PATH,   /* cut at its beginning */
    TABLE_NAME,   /* of a function or place: shortened, so that rows differ (short_name.h) */
    TABLE_LIST    /* items with '\n' between them: as many as there is room for */
};

struct table_column {
    const char *heading; /* cut as a cell is */
    enum table_kind kind;
    unsigned gap;   /* spaces before it */
    unsigned least; /* columns that it should have at least, if its cells need them; 0: as many as
                       they need */
    unsigned rank;  /* 0: never left out; else the columns with the highest are left out first */
};

struct table;
enum { TABLE_MEASURED = 4096 };

/* The page outlives the table. NULL: out of memory, for which the other functions do nothing. */
struct table *table_new(const struct page *page);
void table_free(struct table *table);

/* All columns come before all cells. The heading is copied. */
#define table_column(table, ...) table_add_column(table, (struct table_column){__VA_ARGS__})
void table_add_column(struct table *table, struct table_column column);
void table_columns(struct table *table, const struct table_column *columns, size_t count);
/* table_new() with these columns; more may follow. */
struct table *table_with(const struct page *page, const struct table_column *columns, size_t count);
/* The next cell of a row; the row after the last column's. Copied; its control characters are
 * replaced. */
void table_cell(struct table *table, const char *text);
void table_figure(struct table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A line between the rows, dim, or empty (""). */
void table_line(struct table *table, const char *text);
/* A line that so many rows more can be had with --top 0, behind `indent` spaces; 0: none. */
void table_more(struct table *table, unsigned indent, uint64_t count);

/* Whether every column has its least width on the page, none being left out. */
bool table_fits(const struct table *table);
/* Heading in bold, and rows. Nothing is printed behind the last cell of a row. */
void table_print(struct table *table);
/* The same, and frees the table. */
void table_end(struct table *table);
