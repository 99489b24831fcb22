/* Puts the report together: the stack of the whole run, the tables, the notes. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "util/array.h"

static bool build_stack(const struct simulation *simulation, struct stack *stack) {
    uint64_t units[PSV_COMBINATIONS] = {0};
    for (uint64_t i = 0; i < simulation->cell_count; i++)
        units[simulation->cells[i].psv % PSV_COMBINATIONS] += simulation->cells[i].units;
    stack->parts = malloc(PSV_COMBINATIONS * sizeof *stack->parts);
    if (!stack->parts)
        return false;
    stack_fill(stack, units);
    return true;
}

static bool build_loops(const struct report_request *request, const struct simulation *simulation,
                        const struct code *code, struct program *program, struct report *report,
                        struct error *error) {
    struct report_rows functions;
    const bool good = rows_build(BY_FUNCTION, 0, simulation, code, program, &functions, error) &&
                      loop_rows_build_costly(&functions, request->top, &report->loops, error);
    rows_free(&functions);
    return good;
}

/* What the table of data objects rests on. */
static bool note_data(struct report *report) {
    const struct data_result *data = &report->simulation->data;
    if (!data->told && !report_note(report, "nothing tells of memory that was allocated or mapped: "
                                            "the heap has no objects (a trace has them with "
                                            "culprit trace --data; statically linked programs, "
                                            "and those with an allocator of their own, have none)"))
        return false;
    return !data->dropped ||
           report_note(report, "%s blocks of the heap were too many at once: they have no object",
                       text_grouped(data->dropped).s);
}

bool report_build(const struct report_request *request, const struct simulation *simulation,
                  const struct code *code, struct program *program, struct report *report,
                  struct error *error) {
    *report = (struct report){.verb = request->verb,
                              .program = request->program,
                              .machine = request->machine,
                              .ideal = request->ideal,
                              .by = request->by,
                              .simulation = simulation,
                              .partial = request->partial};
    if (request->forecast)
        report->forecast = *request->forecast;
    if (request->causes &&
        !what_if_build(request->causes, simulation, code, program, &report->what_if, error))
        return false;
    if (!build_stack(simulation, &report->stack))
        return error_set(error, "out of memory for the report");
    if (!rows_build(BY_FUNCTION, request->top, simulation, code, program, &report->functions,
                    error) ||
        !rows_build(BY_INSTRUCTION, request->top, simulation, code, program, &report->instructions,
                    error))
        return false;
    if ((request->by == BY_LINE || request->by == BY_IMAGE) &&
        !rows_build(request->by, request->top, simulation, code, program, &report->grouped, error))
        return false;
    if (request->by == BY_LOOP && !build_loops(request, simulation, code, program, report, error))
        return false;
    if (request->by == BY_FIELD &&
        !field_rows_build(simulation, code, program, request->top, &report->fields, error))
        return false;
    if (simulation->data.object_count &&
        (!data_rows_build(simulation, code, program, request->top, &report->data, error) ||
         !note_data(report)))
        return false;
    if (!threads_report_build(report, request->top, &report->threads, error))
        return false;
    report->threads.what_ifs = request->thread_what_ifs;
    if (!advice_build(report, code, program, request->laid_out, &report->advice, error))
        return false;
    return report_add_worth(report) || error_set(error, "out of memory for the report");
}

void report_free(struct report *report) {
    free(report->stack.parts);
    what_if_free(&report->what_if);
    threads_report_free(&report->threads);
    rows_free(&report->functions);
    rows_free(&report->instructions);
    rows_free(&report->grouped);
    loop_rows_free(&report->loops);
    field_rows_free(&report->fields);
    data_rows_free(&report->data);
    array_free_each(report->notes, report->note_count);
    free(report->note_commands);
    free(report->next);
    free(report->children.name);
    memset(report, 0, sizeof *report);
}

bool report_note(struct report *report, const char *format, ...) {
    char **notes = realloc(report->notes, (report->note_count + 1) * sizeof *notes);
    if (!notes)
        return false;
    report->notes = notes;
    uint32_t *commands =
        realloc(report->note_commands, (report->note_count + 1) * sizeof *commands);
    if (!commands)
        return false;
    report->note_commands = commands;
    commands[report->note_count] = 0;
    va_list arguments;
    va_start(arguments, format);
    bool good = vasprintf(&notes[report->note_count], format, arguments) >= 0;
    va_end(arguments);
    report->note_count += good;
    return good;
}

bool report_note_command(struct report *report, const char *intro, const char *command) {
    if (!report_note(report, "%s %s", intro, command))
        return false;
    report->note_commands[report->note_count - 1] = (uint32_t)strlen(intro) + 1;
    return true;
}
