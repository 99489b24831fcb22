/* Text is broken into pieces, which are words, or in a command for the shell words with the quoted
 * parts in them; each goes to the line as long as there is room. */
#include "report/page.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/ascii_stream.h"

enum { LINE_BYTES = 4096 };

struct page page_of(FILE *stream, bool wide) {
    FILE *file = ascii_stream_behind(stream);
    struct page page = {.file = shown_stream(file), .bold = "", .dim = "", .plain = ""};
    bool told;
    page.columns = text_terminal_columns(file, &told);
    page.table_columns = wide ? PAGE_WIDE : told ? page.columns : PAGE_UNTOLD;
    if (text_use_colour(file)) {
        page.bold = "\033[1m";
        page.dim = "\033[2m";
        page.plain = "\033[0m";
    }
    return page;
}

void page_cell(const struct page *page, const char *text, unsigned columns, enum text_align align) {
    char fitted[LINE_BYTES];
    fputs(text_fit(fitted, sizeof fitted, text, columns, align), page->file);
}

void page_clip(const struct page *page, const char *text, unsigned columns) {
    char fitted[LINE_BYTES];
    fputs(text_clip(fitted, sizeof fitted, text, columns), page->file);
}

char *page_fit_path(char *text, size_t size, const char *path, unsigned columns) {
    const char *tail = text_clean(text, size, path);
    if (text_columns(tail) <= columns)
        return text;
    while (*tail && text_columns(tail) + 1 > columns)
        do
            tail++;
        while ((*tail & 0xc0) == 0x80);
    char *kept = strdup(tail);
    snprintf(text, size, "…%s", kept ? kept : "");
    free(kept);
    return text;
}

void page_title(const struct page *page, const char *text, bool partial) {
    static const char PARTIAL[] = " (partial)";
    fputs(page->bold, page->file);
    page_clip(page, text, page->columns - (partial ? (unsigned)strlen(PARTIAL) : 0));
    fprintf(page->file, "%s%s\n", page->plain, partial ? PARTIAL : "");
}

/* ---- wrapping ---- */

/* Bytes up to the end of what is quoted at the beginning of `text`, in brackets or not: "'culprit
 * top'", "('culprit top')"; 0: nothing is, but an apostrophe perhaps. */
static size_t quotation(const char *text) {
    const size_t open = strspn(text, "([");
    if (text[open] != '\'')
        return 0;
    for (const char *close = text + open + 1; (close = strchr(close, '\'')); close++)
        if (!close[1] || strchr(" ,;:.)]", close[1]))
            return (size_t)(close + 1 - text);
    return 0;
}

/* Whether text begins with a unit, or what multiplies one. */
static bool is_unit(const char *text) {
    static const char *const UNITS[] = {"%",   "k",   "M",   "G",   "T",   "P",   "E",  "B",
                                        "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ns", "us",
                                        "µs",  "ms",  "s",   "min", "h",   "d",   "GHz"};
    const size_t length = strcspn(text, " ,;:.)]");
    return any_where(i, sizeof UNITS / sizeof *UNITS,
                     strlen(UNITS[i]) == length && !strncmp(UNITS[i], text, length));
}

/* Bytes of the word that text begins with: up to the next space; in a command the next that is not
 * quoted; in prose likewise where a command is quoted, which has at most LONGEST bytes, and a
 * figure keeps its unit. */
static size_t word_length(const char *text, bool in_command) {
    enum { LONGEST = 60 };
    const size_t quoted_bytes = in_command ? 0 : quotation(text);
    size_t length = quoted_bytes <= LONGEST ? quoted_bytes : 0;
    for (bool quoted = false; text[length] && (quoted || text[length] != ' '); length++) {
        if (!in_command)
            continue;
        if (text[length] == '\'')
            quoted = !quoted;
        else if (text[length] == '\\' && !quoted && text[length + 1])
            length++;
    }
    if (!in_command && length && isdigit((unsigned char)text[length - 1]) && text[length])
        length += is_unit(text + length + 1) ? 1 + strcspn(text + length + 1, " ") : 0;
    return length;
}

struct wrapping {
    const struct page *page;
    const char *margin;
    unsigned column;
    bool begun; /* the line has a word */
};

/* `room`: that must be left behind the word. */
static void put_word(struct wrapping *wrapping, const char *word, size_t length, unsigned room,
                     bool continued) {
    char bytes[LINE_BYTES], clean[LINE_BYTES];
    snprintf(bytes, sizeof bytes, "%.*s", (int)length, word);
    FILE *file = wrapping->page->file;
    unsigned width = text_columns(text_clean(clean, sizeof clean, bytes));
    if (wrapping->begun && wrapping->column + 1 + width + room > wrapping->page->columns) {
        fprintf(file, "%s\n%s", continued ? " \\" : "", wrapping->margin);
        wrapping->column = text_columns(wrapping->margin);
        wrapping->begun = false;
    }
    fprintf(file, "%s%s", wrapping->begun ? " " : "", clean);
    wrapping->column += (wrapping->begun ? 1 : 0) + width;
    wrapping->begun = true;
}

static void put_words(struct wrapping *wrapping, const char *text, const char *command) {
    while (*text) {
        bool in_command = command && text >= command;
        size_t length = word_length(text, in_command);
        bool last = text[length] == 0;
        put_word(wrapping, text, length, in_command && !last ? 2 : 0, in_command && text > command);
        text += length;
        text += *text == ' ';
    }
}

void page_wrap(const struct page *page, const char *text, const char *command, const char *first,
               const char *margin) {
    struct wrapping wrapping = {.page = page, .margin = margin, .column = text_columns(first)};
    fputs(first, page->file);
    put_words(&wrapping, text, command);
    fputc('\n', page->file);
}

void page_print(const struct page *page, const char *format, ...) {
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    if (text)
        page_wrap(page, text, NULL, "", "  ");
    free(text);
}

void page_heading(const struct page *page, const char *heading, const char *rest) {
    struct wrapping wrapping = {.page = page, .margin = " "};
    fprintf(page->file, "\n%s", page->bold);
    put_words(&wrapping, heading, NULL);
    fputs(page->plain, page->file);
    put_words(&wrapping, rest, NULL);
    fputc('\n', page->file);
}
