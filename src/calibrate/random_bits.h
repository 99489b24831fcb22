/* Inside of the calibrate room: a table of random bits, for branches that nothing predicts, and the
 * code that walks it. */
#pragma once

#include "host/kernel.h"

/* `count`, a power of two, bytes of 0 or 1; free them. NULL: out of memory. */
uint8_t *random_bits(size_t count);

/* Data with a table of `count` bytes from WALK_TABLE on; before it lies where the walk goes on. */
enum { WALK_TABLE = 64 };
/* R12 walks; a step loads the next byte, zero extended, into a register of 32 bits. */
void walk_begin(struct assembler *code);
void walk_step(struct assembler *code, ZydisRegister to, size_t count);
void walk_end(struct assembler *code);
