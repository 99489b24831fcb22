/* Top-down levels (attribute/top_down.h) of a simulation, in all and by function, line,
 * instruction, image or loop. */
#pragma once

#include <jansson.h>

#include "attribute/top_down.h"
#include "query/loop_rows.h"
#include "query/rows.h"
#include "report/page.h"

struct levels {
    uint32_t width; /* slots of a cycle */
    uint64_t cycles, slots, classes[SLOT_CLASSES];
    /* The simulation with slots in place of cycles, and enum slot_class in place of events: rows
     * are made from it. What it points to is the simulation's. */
    struct simulation simulation;
    enum report_by by;
    struct report_rows rows; /* but by loop */
    struct loop_rows loops;
};

/* Of a simulation with slots, `width` in a cycle, which outlives them. levels_free() either way. */
bool levels_build(const struct simulation *simulation, uint32_t width, enum report_by by,
                  uint32_t top, const struct code *code, struct program *program,
                  struct levels *levels, struct error *error);
void levels_free(struct levels *levels);

void levels_text(const struct levels *levels, const struct page *page);
json_t *levels_json(const struct levels *levels);

/* The slots of a row by class. */
void levels_of_stack(const struct stack *stack, uint64_t slots[SLOT_CLASSES]);
