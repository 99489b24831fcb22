/* Whose data an address of a simulated program is: of an object with a symbol, of a section of a
 * file, of a stack, or of memory without a name. */
#pragma once

#include "program/program.h"
#include "simulate/line_traffic.h"
#include "trace/dynamic.h"

enum data_kind {
    DATA_SYMBOL,
    DATA_SECTION, /* of a file, where no symbol is */
    DATA_STACK,   /* between what calls of a thread pushed */
    DATA_MEMORY   /* heap, or otherwise anonymous: no more is known */
};

struct data_object {
    enum data_kind kind;
    const char *name;  /* symbol, or section; the program's */
    const char *image; /* base name of the file; likewise. NULL: in none */
    uint64_t offset;   /* of the address in it; of a stack and of memory 0 */
    uint64_t size;     /* bytes of the object or section; likewise */
    uint32_t thread;   /* whose stack it is */
};

/* Images of the code are where they were first seen; `images`: the number of each in `program`. */
struct data_object data_object_at(const struct code *code, struct program *program,
                                  const uint32_t *images, const struct line_traffic_sum *sum,
                                  uint64_t address);
