/* The cycles of a simulation's misses by the data they were of, named. Heap blocks and mappings are
 * one object where the same CHAIN_FRAMES functions, from the caller of the allocating routine
 * outwards, made them. */
#pragma once

#include "query/rows.h"

enum { DATA_CHAIN_FRAMES = 4 };

struct data_row {
    uint8_t kind;      /* enum object_kind */
    char *name;        /* variable, section, function of the frame, file; of heap and mappings the
                          callers, the innermost first: "new_node < build < main"; never NULL */
    const char *image; /* base name of the file that it is of; NULL: of none */
    uint64_t size;     /* bytes of variables and sections; 0: not of one size */
    uint32_t sites;    /* chains of callers that are one here */
    uint64_t units;    /* 1/840 cycles */
    struct stack stack;
};

struct data_rows {
    struct data_row *rows; /* the costliest first */
    uint32_t count, total; /* shown; all */
    uint64_t units;        /* of all misses, those of code included */
    uint64_t missed;       /* of these, with a miss of data: as of all field_rows */
    uint64_t code;         /* of these, with a miss of code alone */
    uint64_t unknown;      /* of these, without an object */
};

/* Keeps the `top` (0: all) costliest. data_rows_free() either way. */
bool data_rows_build(const struct simulation *simulation, const struct code *code,
                     struct program *program, uint32_t top, struct data_rows *rows,
                     struct error *error);
void data_rows_free(struct data_rows *rows);
