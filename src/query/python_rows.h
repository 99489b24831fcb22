/* The cycles of a simulation by line and by function of Python: of a line those of the interpreter
 * while it runs it, and of everything that it calls short of the next line of Python, such as the
 * routines of dictionaries. */
#pragma once

#include "query/rows.h"
#include "simulate/simulate.h"

struct python_row {
    const char *function, *path; /* "Class.method", file as the program had it; of the code */
    uint32_t line;               /* of a function: its first; 0: not known */
    uint32_t first_line;         /* of its function; 0: not known */
    uint64_t units;              /* 1/840 cycles */
    uint64_t executions;         /* instructions */
    uint64_t calls;              /* times that it was entered; of functions */
    struct stack stack;          /* of `units` */
};

struct python_rows {
    struct python_row *lines, *functions; /* costliest first */
    uint32_t line_count, function_count;  /* as many as were asked for, or fewer */
    uint32_t line_total, function_total;  /* as many as there are; 0: no Python was run */
    uint64_t units;                       /* of all lines */
};

/* From the call paths of a simulation; keeps the `top` (0: all) costliest. The code must outlive
 * the rows. python_rows_free() either way. False: out of memory. */
bool python_rows_build(const struct call_path_result *paths, const struct code *code, uint32_t top,
                       struct python_rows *rows);
void python_rows_free(struct python_rows *rows);
