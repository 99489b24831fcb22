/* A line is told from the others of its function by its text, and by how far it is from the first:
 * so lines are matched when others were put before them, or when they were edited. */
#include "query/compared_python.h"

#include "program/source_text.h"
#include "query/python_rows.h"

/* FNV-1a. */
static uint32_t shape_of(const char *text) {
    uint32_t shape = 0x811c9dc5;
    for (; *text; text++)
        shape = (shape ^ (unsigned char)*text) * 0x01000193;
    return shape;
}

static bool add_line(struct compared_run *run, const struct python_row *row,
                     struct source_text *sources, struct error *error) {
    const char *text = source_text_line(sources, row->path, row->line);
    const uint32_t distance = row->line > row->first_line ? row->line - row->first_line : 0;
    struct compared_sum *sum = arena_alloc(&run->names, sizeof *sum);
    if (!sum)
        return error_set(error, "out of memory for what is compared");
    *sum = (struct compared_sum){.shape = text ? shape_of(text) : distance, .distance = distance};
    struct compared_place place = {.image = row->path,
                                   .function = row->function,
                                   .file = row->path,
                                   .line = row->line,
                                   .text = text ? text : "",
                                   .offset = row->line,
                                   .sum = sum,
                                   .cost = {.units = row->units, .executions = row->executions}};
    stack_components(&row->stack, place.cost.causes);
    return compared_run_add(run, &place, error);
}

bool compared_python_take(struct compared_run *run, const struct simulation *simulation,
                          const struct code *code, struct error *error) {
    struct python_rows rows;
    struct source_text *sources = source_text_new();
    bool good = (python_rows_build(&simulation->paths, code, 0, &rows) && sources) ||
                error_set(error, "out of memory for what is compared");
    for (uint32_t i = 0; good && i < rows.line_count; i++)
        good = add_line(run, &rows.lines[i], sources, error);
    python_rows_free(&rows);
    source_text_free(sources);
    return good;
}
