/* Inside of the calibrate room: a table of random bits, for branches that nothing predicts, and the
 * code that walks it. */
#pragma once

#include "host/kernel.h"

/* Data with a table of `count`, a power of two, bytes from WALK_TABLE on; before it lies where the
 * walk goes on. Stays where it was made. */
enum { WALK_TABLE = 64 };
struct random_bits {
    uint8_t *bytes; /* 0 or 1 */
    struct host_fill fill;
    struct host_data zeros, random; /* of the same size */
};
bool random_bits_make(struct random_bits *bits, size_t count, struct error *error);
void random_bits_free(struct random_bits *bits);

/* R12 walks; a step loads the next byte, zero extended, into a register of 32 bits. */
void walk_begin(struct assembler *code);
void walk_step(struct assembler *code, ZydisRegister to, size_t count);
void walk_end(struct assembler *code);
