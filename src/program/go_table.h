/* The table of functions and lines that every program of the Go compiler carries, stripped or not,
 * because its run-time system walks stacks by it (.gopclntab; layouts of Go 1.18 and 1.20, which
 * later versions keep: runtime/symtab.go, debug/gosym). */
#pragma once

#include "program/elf_image.h"
#include "program/function.h"
#include "program/program.h"

struct go_table;

/* A copy of an image's table, which does not refer to the image. NULL: it has none, of a layout
 * that is not known, or damaged; or memory is out. */
struct go_table *go_table_read(const struct elf_image *image);
void go_table_free(struct go_table *table);

/* Appends its functions. Their names point into the table. False: out of memory. */
bool go_table_functions(const struct go_table *table, const struct elf_image *image,
                        struct function_list *list);

/* Fills location's file and line for an address; the name points into the table. */
void go_table_locate(const struct go_table *table, uint64_t address, struct location *location);
