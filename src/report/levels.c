#include "report/levels.h"

#include <stdlib.h>

static bool build_loops(const struct code *code, struct program *program, uint32_t top,
                        struct levels *levels, struct error *error) {
    struct report_rows functions;
    const bool good =
        rows_build(BY_FUNCTION, 0, &levels->simulation, code, program, &functions, error) &&
        loop_rows_build(&functions, top, &levels->loops, error);
    rows_free(&functions);
    return good;
}

bool levels_build(const struct simulation *simulation, uint32_t width, enum report_by by,
                  uint32_t top, const struct code *code, struct program *program,
                  struct levels *levels, struct error *error) {
    *levels = (struct levels){.width = width,
                              .cycles = simulation->cycles,
                              .slots = simulation->cycles * width,
                              .simulation = *simulation,
                              .by = by};
    levels->simulation.cells = simulation->slots;
    levels->simulation.cell_count = simulation->slot_count;
    for (uint64_t i = 0; i < simulation->slot_count; i++)
        levels->classes[simulation->slots[i].psv] += simulation->slots[i].units;
    return by == BY_LOOP
               ? build_loops(code, program, top, levels, error)
               : rows_build(by, top, &levels->simulation, code, program, &levels->rows, error);
}

void levels_free(struct levels *levels) {
    rows_free(&levels->rows);
    loop_rows_free(&levels->loops);
}

void levels_of_stack(const struct stack *stack, uint64_t slots[SLOT_CLASSES]) {
    for (uint32_t i = 0; i < SLOT_CLASSES; i++)
        slots[i] = 0;
    for (uint32_t i = 0; i < stack->count; i++)
        slots[stack->parts[i].psv] += stack->parts[i].units;
}
