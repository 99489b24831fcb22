/* Inside of the making of unwind tables. */
#pragma once

#include "program/unwind_table.h"

struct go_table;

/* Appends a row for an address of the image; one that lies in no segment, or beyond 4 GB of the
 * file, is left out. False: out of memory. */
bool unwind_table_add(struct unwind_table *table, const struct elf_image *image, uint64_t address,
                      struct unwind_row row);

/* Appends the rows of Go's functions, from how far the stack pointer is from the return address.
 * Where a function goes to another stack, as to the one of the system, its own has ended. False:
 * out of memory. */
bool go_table_unwind(const struct go_table *table, const struct elf_image *image,
                     struct unwind_table *unwind);
