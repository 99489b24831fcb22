/* Places are sorted so that those of a function, and in it those of a line, lie side by side. */
#include <stdlib.h>
#include <string.h>

#include "query/compared_lines.h"
#include "util/order.h"

static int by_text(const char *one, const char *other) {
    return !one || !other ? (one != NULL) - (other != NULL) : strcmp(one, other);
}

ORDER(by_function, struct compared_place,
      strcmp(a->image, b->image) ?: strcmp(a->function, b->function)
                                  ?: by_text(a->file, b->file) ?: ascending(a->line, b->line)
                                  ?: ascending(a->offset, b->offset))

void compared_places_sort(struct compared_run *run) {
    if (run->count)
        qsort(run->places, run->count, sizeof *run->places, by_function);
}

static bool same_function(const struct compared_place *one, const struct compared_place *other) {
    return !strcmp(one->image, other->image) && !strcmp(one->function, other->function);
}

static bool same_file(const struct compared_place *one, const struct compared_place *other) {
    return one->file && other->file && !strcmp(one->file, other->file);
}

static bool same_line(const struct compared_place *one, const struct compared_place *other) {
    return one->line && one->line == other->line && same_file(one, other);
}

/* FNV-1a of the first word. */
static uint32_t with_mnemonic(uint32_t shape, const char *text) {
    for (; *text && *text != ' '; text++)
        shape = (shape ^ (unsigned char)*text) * 0x01000193;
    return (shape ^ ' ') * 0x01000193;
}

/* `first`: of its function in its file. What is inlined elsewhere now has another first line than
 * the function that it was kept with. */
static uint64_t distance_of(const struct compared_place *place,
                            const struct compared_place *first) {
    if (place->sum && !place->within)
        return place->sum->distance;
    return place->line ? place->line - first->line : place->offset - first->offset;
}

static void begin_line(struct compared_line *line, const struct compared_place *place,
                       const struct compared_place *first) {
    *line = (struct compared_line){
        .place = place, .distance = distance_of(place, first), .shape = 0x811c9dc5};
}

static void add_place(struct compared_line *line, const struct compared_place *place) {
    if (place->cost.units > line->place->cost.units)
        line->place = place;
    line->shape = place->sum ? place->sum->shape : with_mnemonic(line->shape, place->text);
    compared_cost_add(&line->cost, &place->cost);
}

bool compared_functions_find(const struct compared_run *run, struct compared_function **functions,
                             size_t *count, struct compared_line **lines) {
    *lines = calloc(run->count + 1, sizeof **lines);
    *functions = calloc(run->count + 1, sizeof **functions);
    if (!*lines || !*functions)
        return false;
    struct compared_function *function = *functions - 1;
    struct compared_line *line = *lines - 1;
    const struct compared_place *first = NULL; /* of the function in this file */
    for (size_t i = 0; i < run->count; i++) {
        const struct compared_place *place = &run->places[i];
        if (!i || !same_function(place, place - 1)) {
            *++function = (struct compared_function){
                .name = place->function, .image = place->image, .places = place, .lines = line + 1};
            first = NULL;
        }
        compared_cost_add(&function->cost, &place->cost);
        function->place_count++;
        if (place->sum && place->sum->rest) {
            function->rest = place->sum;
            continue;
        }
        if (!first || (place->file ? !same_file(place, first) : first->file != NULL))
            first = place;
        if (!function->line_count || !same_line(place, line->place)) {
            begin_line(++line, place, first);
            function->line_count++;
        }
        add_place(line, place);
    }
    *count = (size_t)(function + 1 - *functions);
    return true;
}
