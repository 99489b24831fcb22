/* Inside of this room: what an image's data are called: symbols of objects and, around them, the
 * sections that are in memory. */
#pragma once

#include "program/elf_image.h"
#include "util/arena.h"

struct data_symbol {
    uint64_t start, size; /* address as linked; bytes, more than 0 */
    uint64_t alignment;   /* of a section, bytes; 0: none is asked for */
    const char *name;     /* readable, in the arena */
};
struct data_symbols {                       /* all zero: none */
    struct data_symbol *symbols, *sections; /* by start */
    size_t symbol_count, symbol_capacity, section_count, section_capacity;
    bool read;
};

/* Adds the symbols of `file`, the image itself or a debug file of it, which is open or released.
 * False: out of memory. */
bool data_symbols_read(struct data_symbols *data, struct elf_image *file, struct arena *arena);
/* Likewise the image's sections. */
bool data_sections_read(struct data_symbols *data, struct elf_image *image, struct arena *arena);
/* When all is read. */
void data_symbols_sort(struct data_symbols *data);
void data_symbols_free(struct data_symbols *data);

/* The one that an address lies in; NULL: none. Of several symbols the smallest. */
const struct data_symbol *data_symbol_at(const struct data_symbols *data, uint64_t address);
const struct data_symbol *data_section_at(const struct data_symbols *data, uint64_t address);
