/* The natural loops of a simulation's functions, with what they cost. A loop has the cycles of its
 * blocks, its own and those of the loops within it, exactly; those of functions that it calls
 * apart.
 */
#pragma once

#include "query/rows.h"

#define LOOP_NONE UINT32_MAX

/* What the executions of a loop's instructions computed and moved (isa/work.h). */
struct loop_work {
    uint64_t fp, integer, loaded, stored;
    /* Most of one instruction: lanes that compute, and bytes loaded or stored. */
    uint32_t fp_lanes, integer_lanes, widest;
};

struct loop_row {
    const char *image;           /* base name of the file */
    uint64_t offset;             /* in it, of the first instruction of the loop's head */
    const char *function, *file; /* NULL: not known */
    uint32_t line;               /* of the head; 0: not known */
    uint64_t function_offset;
    uint32_t outer;             /* row of the loop around it, which stands before it; LOOP_NONE */
    uint32_t depth;             /* loops around it, itself included */
    uint64_t rounds;            /* times that its head was executed */
    double entries;             /* times that it was begun; negative: not known */
    uint64_t instructions;      /* executed in it and the loops within */
    uint64_t units, self_units; /* 1/840 cycles: likewise, and without those */
    double called_units;        /* of functions called from it or from those; negative: not known */
    struct stack stack;         /* of `units` */
    struct loop_work work;      /* likewise, as executed */
};

struct loop_rows {
    struct loop_row
        *rows; /* nests, the costliest first; within one, loops below those around them */
    uint32_t count, total; /* shown; of all functions looked at */
};

/* Of the functions in `functions`, by function; keeps the `top` (0: all) outermost loops that cost
 * most, with what is within them. Loops that were never begun are left out. Functions without code
 * in a file, and those whose size is not known, have none. loop_rows_free() either way. */
bool loop_rows_build(const struct report_rows *functions, uint32_t top, struct loop_rows *loops,
                     struct error *error);
/* The same of those functions that have a thousandth of the cycles. */
bool loop_rows_build_costly(const struct report_rows *functions, uint32_t top,
                            struct loop_rows *loops, struct error *error);
void loop_rows_free(struct loop_rows *loops);
