/* How the caller of any instruction of an image is found: the unwind rules of x86-64, one row from
 * each address at which they change to the next. Made from the frame description entries
 * (program/frame_entries.h); from the table that Go programs carry, where there are none; code that
 * neither covers is walked by frame pointers.
 *
 * The canonical frame address (CFA) is the stack pointer before the call: the return address lies
 * below it, and it is the caller's stack pointer. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "program/elf_image.h"
#include "program/unwind_row.h"

enum { UNWIND_ROWS_MAX = 1 << 22 }; /* of one image; what is beyond them is not covered */

struct unwind_table {
    struct unwind_row *rows; /* sorted, no two with one start, none the same as the one before */
    size_t count, capacity;
};

/* Of another machine than x86-64: no rows. False: out of memory. unwind_table_free() either way. */
bool unwind_table_build(struct unwind_table *table, const struct elf_image *image);
void unwind_table_free(struct unwind_table *table);

/* The row of an instruction at this offset in the file. Of code before the first row, a row of
 * UNWIND_NO_RULE; never NULL. */
const struct unwind_row *unwind_table_find(const struct unwind_table *table, uint64_t offset);
