/* The machine code of a function of a simulation, as its file has it. */
#pragma once

#include "analyze/procedure.h"
#include "query/rows.h"

struct function_code {
    struct procedure_code code; /* refers to this */
    struct program *program;
    uint32_t image; /* in `program` */
    uint8_t *bytes;
};

/* Of group `number` of `functions`, by function. False: it is in no file, its size is not known, or
 * it cannot be read. function_code_free() either way. */
bool function_code_read(const struct report_rows *functions, uint32_t number,
                        struct function_code *function);
void function_code_free(struct function_code *function);
