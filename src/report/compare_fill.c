/* A run that is compared, from its simulation; from a report of it: json/compare_read.c. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "report/compare_report.h"

static_assert((int)COMPONENT_COUNT <= (int)COMPARED_CAUSES, "a cause for each component");

static bool no_memory(struct error *error) {
    return error_set(error, "out of memory for what is compared");
}

bool compare_run_title(struct compared_run *run, const char *text, const char *machine) {
    run->title = arena_copy(&run->names, text, strlen(text));
    run->machine = arena_copy(&run->names, machine, strlen(machine));
    return run->title && run->machine;
}

const char *compare_name_function(char *text, size_t size, const char *image, bool known,
                                  uint64_t offset) {
    if (known)
        snprintf(text, size, "%s+0x%llx", image, (unsigned long long)offset);
    else
        snprintf(text, size, "%s, no function", image);
    return text;
}

/* ---- from a simulation ---- */

static bool add_row(struct compared_run *run, const struct report_rows *rows, uint32_t index,
                    struct report_row *row, struct error *error) {
    char name[PATH_MAX];
    struct location location = {0};
    rows_get(rows, index, row);
    if (!row->function && row->function_size)
        program_locate_function(rows->program, rows->images[rows->groups[index].image], row->offset,
                                &location);
    struct compared_place place = {
        .image = row->image,
        .function = row->function
                        ? row->function
                        : compare_name_function(name, sizeof name, row->image,
                                                location.function_size, location.function_offset),
        .file = row->file,
        .line = row->line,
        .text = row->text,
        .offset = row->offset,
        .cost = {.units = row->units, .executions = row->executions}};
    stack_components(&row->stack, place.cost.causes);
    return compared_run_add(run, &place, error);
}

bool compare_report_take(struct compare_report *report, unsigned side, const char *command,
                         const struct simulation *simulation, const struct code *code,
                         const struct machine *machine, struct error *error) {
    struct compared_run *run = &report->runs[side];
    struct program *program = program_new();
    struct report_row *row = malloc(sizeof *row);
    struct report_rows rows = {0};
    bool good =
        ((program && row && compare_run_title(run, command, machine->name)) || no_memory(error)) &&
        rows_build(BY_INSTRUCTION, 0, simulation, code, program, &rows, error);
    for (uint32_t i = 0; good && i < rows.count; i++)
        good = add_row(run, &rows, i, row, error);
    const uint64_t together = simulation->together.cycles;
    run->elapsed = together ? together : simulation->cycles;
    run->half_interval = simulation_interval(simulation);
    rows_free(&rows);
    free(row);
    if (program)
        program_free(program);
    return good;
}
