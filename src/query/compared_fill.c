/* A run that is compared, from its simulation; from a report of it: report/json/compare_read.c. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "query/compared_fill.h"
#include "query/field_rows.h"
#include "query/function_walk.h"
#include "query/rows.h"
#include "util/file_name.h"
#include "util/little_endian.h"

static_assert((int)COMPONENT_COUNT <= (int)COMPARED_CAUSES, "a cause for each component");

/* Fields are looked for in functions that have a hundredth of the cycles. Both runs have the same
 * libraries of the system: no type of these grows. */
static const double FIELDS_LEAST = 0.01;

static bool no_memory(struct error *error) {
    return error_set(error, "out of memory for what is compared");
}

bool compared_run_title(struct compared_run *run, const char *text, const char *machine) {
    run->title = arena_copy(&run->names, text, strlen(text));
    run->machine = arena_copy(&run->names, machine, strlen(machine));
    return run->title && run->machine;
}

const char *compared_name_function(char *text, size_t size, const char *image, bool known,
                                   uint64_t offset) {
    if (known)
        snprintf(text, size, "%s+0x%llx", image, (unsigned long long)offset);
    else
        snprintf(text, size, "%s, no function", image);
    return text;
}

/* ---- from a simulation ---- */

static bool add_libraries(struct compared_run *run, const struct code *code, struct error *error) {
    bool good = true;
    for (uint32_t i = 0; good && i < code->image_count; i++) {
        const struct code_image *image = &code->images[i];
        if (code_image_is_system(code, i) && image->build_id_size >= 8)
            good = compared_run_add_library(run, file_base_name(image->path),
                                            __builtin_bswap64(get_u64(image->build_id)), error);
    }
    return good;
}

static bool add_row(struct compared_run *run, const struct report_rows *rows, uint32_t index,
                    const struct field_rows *fields, struct report_row *row, struct error *error) {
    rows_get(rows, index, row);
    const uint32_t number = fields->row_of[row->hottest];
    const struct field_row *field = number == FIELD_NONE ? NULL : &fields->rows[number];
    char name[PATH_MAX];
    struct location location = {0};
    program_locate(rows->program, rows->images[rows->groups[index].image], row->offset, &location);
    struct compared_place place = {
        .image = row->image,
        .function = row->function
                        ? row->function
                        : compared_name_function(name, sizeof name, row->image,
                                                 location.function_size, location.function_offset),
        .file = row->file,
        .line = row->line,
        .text = row->text,
        .offset = row->offset,
        .type = field && field->type_size ? field->type : NULL,
        .type_size = field ? field->type_size : 0,
        .cost = {.units = row->units, .executions = row->executions}};
    for (uint32_t i = 0; i < location.inline_count && i < COMPARED_INLINES; i++)
        place.inlined[i] = location.inlined[i].function;
    stack_components(&row->stack, place.cost.causes);
    return compared_run_join(run, &place, error);
}

bool compared_run_take(struct compared_run *run, const char *command,
                       const struct simulation *simulation, const struct code *code,
                       const struct machine *machine, struct error *error) {
    const double half = simulation_interval(simulation);
    struct program *program = program_new();
    struct report_row *row = malloc(sizeof *row);
    struct report_rows rows = {0};
    struct field_rows fields = {0};
    bool good =
        ((program && row && (run->title || compared_run_title(run, command, machine->name))) ||
         no_memory(error)) &&
        rows_build(BY_INSTRUCTION, 0, simulation, code, program, &rows, error) &&
        field_rows_build_own(simulation, code, program, FIELDS_LEAST, &fields, error) &&
        add_libraries(run, code, error);
    for (uint32_t i = 0; good && i < rows.count; i++)
        good = add_row(run, &rows, i, &fields, row, error);
    const uint64_t together = simulation->together.cycles;
    run->elapsed += together ? together : simulation->cycles;
    run->half_interval = half < 0 || run->half_interval < 0 ? -1 : run->half_interval + half;
    compared_run_next(run);
    field_rows_free(&fields);
    rows_free(&rows);
    free(row);
    if (program)
        program_free(program);
    return good;
}
