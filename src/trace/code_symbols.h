/* Gives anonymous code the names that its program gave it. What lies in a symbol becomes code of an
 * image of its own, "[anon]" with the symbol's name, at its offset in the symbol: the same function
 * is the same code wherever a run had put it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "program/code_symbol.h"
#include "trace/dynamic.h"

/* `symbols` are sorted and do not overlap. `owners`: the process of each instruction that is
 * anonymous, of which only those of `process` are named; NULL: all. Images may move. False: out of
 * memory. */
bool code_name_symbols(struct code *code, size_t *image_capacity, const uint32_t *owners,
                       uint32_t process, const struct code_symbol *symbols, size_t count);
