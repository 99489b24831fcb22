/* The cycles of a simulation by function, line, instruction or image: the costliest as rows. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "attribute/component.h"
#include "program/program.h"
#include "simulate/simulate.h"
#include "trace/dynamic.h"
#include "util/error.h"

enum report_by {
    BY_FUNCTION,
    BY_LINE,
    BY_INSTRUCTION,
    BY_IMAGE,
    BY_LOOP,
    BY_PATH,
    BY_FIELD,
    BY_OBJECT
};

/* Cycles of one combination of events. */
struct stack_part {
    uint32_t psv;
    uint64_t units; /* 1/840 cycles */
};

struct stack {
    struct stack_part *parts; /* largest first */
    uint32_t count;
};

/* Of cycles by signature; `parts` has room for PSV_COMBINATIONS. */
void stack_fill(struct stack *stack, const uint64_t units[PSV_COMBINATIONS]);

/* Cycles of a stack, by component (units). */
void stack_components(const struct stack *stack, uint64_t units[COMPONENT_COUNT]);

enum { ROW_TEXT_BYTES = 96 };

/* A function, source line, instruction or image. */
struct report_row {
    const char *image;      /* base name of the file, "[vdso]", "[anon]" */
    uint64_t offset;        /* in the image's file: of the function's or line's first instruction
                               that took time, or of the instruction; 0 of an image */
    uint64_t address;       /* the same as virtual address of the ELF file; = offset without one */
    const char *function;   /* NULL: no symbol covers it */
    const char *file;       /* NULL: not known */
    uint32_t line;          /* 0: not known */
    uint64_t function_size; /* bytes; 0: the code lies in no known function */
    bool is_outside;        /* by function or line: all code of a file in no known function */
    uint64_t units;         /* 1/840 cycles */
    uint64_t executions;    /* instructions executed in it */
    uint32_t hottest;       /* static number of its costliest instruction */
    uint64_t hottest_units; /* of that instruction */
    char text[ROW_TEXT_BYTES]; /* assembly of that instruction */
    struct stack stack;        /* its parts are those below */
    struct stack_part parts[PSV_COMBINATIONS];
};

/* What a row is made from: a program of a million instructions has as many rows, so that names and
 * stacks are made one row at a time. */
struct group {
    uint64_t units, executions;
    uint64_t offset;     /* of a function: its first byte; else of the first instruction */
    const char *file;    /* by line; NULL: what has no line, of one function */
    uint32_t line;       /* by line */
    uint32_t image;      /* index into the code's images */
    uint32_t first;      /* of its instructions in `members` */
    uint32_t insn_count; /* ≥ 1 */
};

struct report_rows {
    enum report_by by;
    struct group *groups; /* costliest first */
    uint32_t count;       /* as many as were asked for, or fewer */
    uint32_t total;       /* as many as there are */
    uint32_t *members;    /* static instructions of the groups */
    uint32_t *images;     /* number in `program` of each image of the code */
    const struct simulation *simulation;
    const struct code *code;
    struct program *program;
};

/* The cells of an instruction among `count` that are sorted: the first, *found of them; the sum of
 * their units. */
const struct pics_cell *insn_cells(const struct pics_cell *cells, uint64_t count, uint32_t insn,
                                   uint64_t *found);
uint64_t insn_units(const struct pics_cell *cells, uint64_t count, uint32_t insn);

/* Groups the simulation's cells and keeps the `top` costliest groups. Refers to the
 * simulation, code and program, which must outlive it. */
bool rows_build(enum report_by by, uint32_t top, const struct simulation *simulation,
                const struct code *code, struct program *program, struct report_rows *rows,
                struct error *error);
/* Row `index` < count, with its names, text and stack. */
void rows_get(const struct report_rows *rows, uint32_t index, struct report_row *row);
/* Of an offset in the file of one of the code's images, as an address of the ELF file; without a
 * file the offset. */
uint64_t rows_address(const struct report_rows *rows, uint32_t image, uint64_t offset);
void rows_free(struct report_rows *rows);
