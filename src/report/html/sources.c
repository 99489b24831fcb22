#include "report/html/sources.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "program/source_text.h"
#include "report/json_values.h"
#include "util/array.h"
#include "util/order.h"

enum {
    AROUND = 4,           /* lines shown before and behind one that is used */
    MOST_BYTES = 2 << 20, /* of all lines shown */
};

struct used {
    const char *file;
    uint32_t line;
};

struct html_sources {
    struct used *items;
    size_t count, capacity;
};

struct html_sources *html_sources_new(void) {
    return calloc(1, sizeof(struct html_sources));
}

void html_sources_free(struct html_sources *sources) {
    if (sources)
        free(sources->items);
    free(sources);
}

bool html_sources_use(struct html_sources *sources, const char *file, uint32_t line) {
    assert(sources->items || !sources->count);
    const struct used *last = sources->count ? &sources->items[sources->count - 1] : NULL;
    if (last && last->line == line && last->file == file)
        return true;
    return array_push(sources->items, sources->capacity, sources->count, (struct used){file, line});
}

ORDER(by_line, struct used, strcmp(a->file, b->file) ?: ascending(a->line, b->line))

/* The item behind those whose surroundings touch those of `from`. */
static size_t stretch_end(const struct html_sources *sources, size_t from) {
    size_t end = from + 1;
    while (end < sources->count && !strcmp(sources->items[end].file, sources->items[from].file) &&
           sources->items[end].line <= sources->items[end - 1].line + 2 * AROUND + 1)
        end++;
    return end;
}

static json_t *stretch_lines(struct source_text *text, const char *file, uint32_t first,
                             uint32_t last, size_t *bytes) {
    json_t *lines = json_array();
    for (uint32_t line = first; line <= last && *bytes < MOST_BYTES; line++) {
        const char *shown = source_text_whole_line(text, file, line);
        if (!shown)
            break;
        *bytes += strlen(shown);
        json_array_append_new(lines, json_text(shown));
    }
    return lines;
}

bool html_sources_write(struct html_sources *sources, FILE *file) {
    struct source_text *text = source_text_new();
    bool good = text, begun = false;
    size_t bytes = 0;
    if (sources->count)
        qsort(sources->items, sources->count, sizeof *sources->items, by_line);
    fputc('[', file);
    for (size_t i = 0, end; good && i < sources->count; i = end) {
        end = stretch_end(sources, i);
        const char *name = sources->items[i].file;
        const uint32_t line = sources->items[i].line, first = line > AROUND ? line - AROUND : 1;
        json_t *lines =
            stretch_lines(text, name, first, sources->items[end - 1].line + AROUND, &bytes);
        if (lines && !json_array_size(lines)) {
            json_decref(lines);
            continue;
        }
        json_t *object = json_pack("{s:o, s:I, s:o}", "file", json_text(name), "first",
                                   (json_int_t)first, "lines", lines);
        fputs(begun ? ",\n" : "\n", file);
        begun = true;
        good = object && json_dumpf(object, file, JSON_COMPACT) == 0;
        json_decref(object);
    }
    fputc(']', file);
    source_text_free(text);
    return good;
}
