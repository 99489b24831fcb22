/* The cycles of a category are those with its events (TEA), taken out of the profile into one of
 * their own, whose costliest functions are the places. Of a function's lines the costliest are
 * named that together have most of it, where they stand close together. */
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "report/what_if.h"

enum { LINES = 256, LINES_APART = 40 };
static const double MOST = 0.75, LEAST_SHARE = 0.05;

static bool is_same(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* The lines of the place's function: `lines` has the category's cycles by line, dearest first. */
static void find_lines(const struct report_rows *lines, uint64_t units,
                       struct what_if_place *place) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < lines->count && (double)sum < MOST * (double)units; i++) {
        struct report_row row;
        rows_get(lines, i, &row);
        if (!row.file || !is_same(row.function, place->function) ||
            !is_same(row.image, place->image) || (place->file && !is_same(row.file, place->file)))
            continue;
        uint32_t first = row.line, last = first;
        if (place->file) {
            first = first < place->first_line ? first : place->first_line;
            last = last > place->last_line ? last : place->last_line;
            if (last - first > LINES_APART)
                continue;
        }
        place->file = row.file;
        place->first_line = first;
        place->last_line = last;
        sum += row.units;
    }
}

static void find_functions(const struct report_rows *functions, const struct report_rows *lines,
                           double all, struct what_if *what_if, uint32_t category) {
    uint32_t *count = &what_if->place_count[category];
    for (uint32_t i = 0; i < functions->count; i++) {
        struct report_row row;
        rows_get(functions, i, &row);
        if (!((double)row.units >= LEAST_SHARE * all))
            break;
        struct what_if_place *place = &what_if->places[category][(*count)++];
        *place = (struct what_if_place){.share = (double)row.units / all,
                                        .function = row.function,
                                        .image = row.image,
                                        .offset = row.offset};
        find_lines(lines, row.units, place);
    }
}

static bool find_places(const struct simulation *category_only, uint32_t category, double all,
                        const struct code *code, struct program *program, struct what_if *what_if,
                        struct error *error) {
    struct report_rows functions = {0}, lines = {0};
    bool good =
        rows_build(BY_FUNCTION, WHAT_IF_PLACES, category_only, code, program, &functions, error) &&
        rows_build(BY_LINE, LINES, category_only, code, program, &lines, error);
    if (good)
        find_functions(&functions, &lines, all, what_if, category);
    rows_free(&functions);
    rows_free(&lines);
    return good;
}

bool what_if_find_places(struct what_if *what_if, const struct simulation *simulation,
                         const struct code *code, struct program *program, struct error *error) {
    struct pics_cell *cells = malloc((simulation->cell_count + 1) * sizeof *cells);
    bool good = cells || error_set(error, "out of memory for the report");
    for (uint32_t category = 0; good && category < MULTISIM_CATEGORIES; category++) {
        struct simulation only = {.cells = cells};
        uint64_t all = 0;
        for (uint64_t i = 0; i < simulation->cell_count; i++)
            if (simulation->cells[i].psv & multisim_events(category)) {
                cells[only.cell_count++] = simulation->cells[i];
                all += simulation->cells[i].units;
            }
        if (all)
            good = find_places(&only, category, (double)all, code, program, what_if, error);
    }
    free(cells);
    return good;
}
