/* Selects from many symbols those that cover one of some offsets. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "program/code_symbol.h"
#include "util/arena.h"

struct symbol_cover {
    const uint64_t *offsets; /* sorted; the caller's */
    size_t offset_count;
    struct code_symbol *symbols; /* may overlap until symbol_cover_settle() */
    size_t count, capacity;
    struct arena names;
};

/* Keeps a copy when it covers an offset. False: out of memory. */
bool symbol_cover_add(struct symbol_cover *cover, uint64_t start, uint64_t size, const char *name,
                      size_t name_length);

/* Sorts; where symbols overlap the one that was added last wins, and what it leaves of others goes.
 */
void symbol_cover_settle(struct symbol_cover *cover);

void symbol_cover_free(struct symbol_cover *cover);
