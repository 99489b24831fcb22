/* Markdown as far as the documents use it: paragraphs and items wrap, a row of a table becomes an
 * item, what is between fences stays as it is. */
#include "options/topics.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "report/page.h"
#include "util/array.h"

const struct topic topics[] = {
#include "options/topics.inc"
};
const size_t topic_count = sizeof topics / sizeof *topics;

const struct topic *topic_find(const char *name) {
    const size_t i = index_where(k, topic_count, !strcmp(name, topics[k].name));
    return i < topic_count ? &topics[i] : NULL;
}

void topics_list(FILE *file) {
    const struct page page = page_of(file, false);
    for (size_t i = 0; i < topic_count; i++) {
        char line[256];
        snprintf(line, sizeof line, "  %-14s %s", topics[i].name, topics[i].summary);
        page_clip(&page, line, page.columns);
        fputc('\n', file);
    }
}

struct printer {
    struct page page;
    char *paragraph; /* its lines so far, with spaces between */
    size_t length, room;
    bool item; /* it is one of a list */
};

static void end_paragraph(struct printer *printer) {
    if (printer->length)
        page_wrap(&printer->page, printer->paragraph, NULL, printer->item ? "  - " : "",
                  printer->item ? "    " : "");
    printer->length = 0;
    printer->item = false;
}

static void add_words(struct printer *printer, const char *text, size_t length) {
    if (!array_room(printer->paragraph, printer->room, printer->length + length + 2) ||
        !printer->paragraph)
        return;
    if (printer->length)
        printer->paragraph[printer->length++] = ' ';
    memcpy(printer->paragraph + printer->length, text, length);
    printer->length += length;
    printer->paragraph[printer->length] = 0;
}

static bool is_rule(const char *line, size_t length) {
    return all_where(i, length, strchr("|-: ", line[i]) != NULL);
}

/* "| a | b | c |" -> "a: b; c". A bar behind a backslash is a part of its cell. */
static void add_row(struct printer *printer, const char *line, size_t length) {
    end_paragraph(printer);
    if (is_rule(line, length))
        return;
    printer->item = true;
    unsigned cells = 0;
    for (size_t at = 1; at < length;) {
        size_t end = at;
        while (end < length && (line[end] != '|' || line[end - 1] == '\\'))
            end++;
        size_t first = at, behind = end;
        while (first < behind && line[first] == ' ')
            first++;
        while (behind > first && line[behind - 1] == ' ')
            behind--;
        if (cells && behind > first && printer->length) {
            printer->paragraph[printer->length++] = cells == 1 ? ':' : ';';
            printer->paragraph[printer->length] = 0;
        }
        if (behind > first)
            add_words(printer, line + first, behind - first);
        cells++;
        at = end + 1;
    }
    end_paragraph(printer);
}

static void add_line(struct printer *printer, const char *line, size_t length) {
    const bool item = length > 2 && (line[0] == '-' || line[0] == '*') && line[1] == ' ';
    if (length == 0) {
        end_paragraph(printer);
        fputc('\n', printer->page.file);
    } else if (line[0] == '|') {
        add_row(printer, line, length);
    } else if (item) {
        end_paragraph(printer);
        printer->item = true;
        add_words(printer, line + 2, length - 2);
    } else {
        size_t first = 0;
        while (first < length && line[first] == ' ')
            first++;
        add_words(printer, line + first, length - first);
    }
}

void topic_print(const struct topic *topic, FILE *file) {
    struct printer printer = {.page = page_of(file, false)};
    bool fenced = false;
    page_title(&printer.page, topic->heading, false);
    fputc('\n', file);
    for (const char *line = topic->text, *end; *line; line = end + 1) {
        end = strchr(line, '\n');
        const size_t length = (size_t)(end - line);
        const bool fence = length >= 3 && !memcmp(line, "```", 3);
        if (fence)
            end_paragraph(&printer);
        if (fenced && !fence)
            fprintf(file, "  %.*s\n", (int)length, line);
        else if (!fence)
            add_line(&printer, line, length);
        fenced ^= fence;
    }
    end_paragraph(&printer);
    fprintf(file, "\nmore: %s\n", topic->document);
    free(printer.paragraph);
}
