/* The page that a report is written on: where it goes, how wide it is, how headings stand out.
 *
 * A report fits its page: text wraps at words, a line that must stay one is cut, a table leaves
 * out its least columns and shortens names (table.h). */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "util/text.h"

struct page {
    FILE *file;
    unsigned columns;               /* 40 to 400 */
    unsigned table_columns;         /* that a table may have; 0: as many */
    const char *bold, *dim, *plain; /* begin and end an emphasis; "" without colour */
};

enum {
    PAGE_UNTOLD = 200, /* columns of tables in a file or pipe, which nobody has told a width */
    PAGE_WIDE = 1 << 20
};

/* As wide as the terminal behind the file (text_terminal_columns()), in colour where it shows it
 * (text_use_colour()); `wide`: but tables as wide as their cells need. What is written to the
 * page's file has signs of ASCII where the file shows no others (text_use_unicode()). `stream`: a
 * file, or that of another page. */
struct page page_of(FILE *stream, bool wide);

/* Exactly so many columns: padded or cut, as text_fit(). */
void page_cell(const struct page *page, const char *text, unsigned columns, enum text_align align);

/* At most so many columns: cut at its end, as text_clip(). */
void page_clip(const struct page *page, const char *text, unsigned columns);

/* A path in at most so many columns: cut at its beginning. Returns `text`. */
char *page_fit_path(char *text, size_t size, const char *path, unsigned columns);

/* One line, in bold and cut to the page: what the report is about. A partial one says so. */
void page_title(const struct page *page, const char *text, bool partial);

/* Text that wraps, every line but the first with two spaces before it. */
void page_print(const struct page *page, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* An empty line and a heading in bold, with the rest of its line plain; `rest` may be "". Wraps. */
void page_heading(const struct page *page, const char *heading, const char *rest);

/* Lines broken at spaces; every one begins with `margin`, but the first, which begins with
 * `first`. `command`: where in `text` a command for the shell begins, which can be copied as it
 * stands: its lines end so that the shell reads on, and never within a quoted word. NULL: it has
 * none. */
void page_wrap(const struct page *page, const char *text, const char *command, const char *first,
               const char *margin);
