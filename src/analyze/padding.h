/* Bytes between pieces of code that are there for alignment only. */
#pragma once

#include "isa/insn.h"

/* Bytes of padding that begin here: instructions that do nothing, and what is never executed. */
size_t padding_size(enum isa isa, const uint8_t *bytes, size_t size);

/* Padding that is never executed begins here: zeros, and of x86-64 int3. */
bool padding_is_dead(enum isa isa, const uint8_t *bytes, size_t size);
