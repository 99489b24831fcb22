/* The functions of an image: from symbol tables, from the procedure linkage table, from the
 * table of Go programs, and, where a
 * stripped file has no symbol, from the unwind tables (.eh_frame), which give a function's extent
 * but not its name. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "program/code_symbol.h"
#include "program/elf_image.h"
#include "program/span.h"
#include "util/arena.h"

struct function {
    uint64_t start, end; /* addresses, end exclusive */
    const char *symbol;  /* as in the symbol table, mangled; NULL: unwind tables only */
    const char *name;    /* readable; NULL until function_name() */
    uint8_t type;        /* STT_FUNC, STT_GNU_IFUNC, STT_NOTYPE */
    uint8_t binding;     /* STB_LOCAL, STB_GLOBAL, STB_WEAK ... */
    bool sized;          /* the symbol table gave the end */
    bool linkage;        /* an entry of the procedure linkage table, which jumps to `symbol` */
};

struct function_list {
    struct function *items;
    size_t count, capacity;
};

struct function_table {
    struct function_list list; /* one function per address, sorted by start, then the aliases */
    size_t alias_count;        /* other names of the same addresses, at the end of the list */
    struct span_table spans;   /* values index list.items */
    struct arena names;        /* what list.items' symbols point to */
};

/* Appends the code symbols of the first section of `type` (SHT_SYMTAB or SHT_DYNSYM) of `file`,
 * which is `image` itself or a debug file of it. Strings point into `file`. False: out of memory.
 */
bool function_read_symbols(struct function_list *list, const struct elf_image *image,
                           const struct elf_image *file, uint32_t type);

/* Appends the entries of the procedure linkage tables (x86-64 and riscv64), named by the symbols
 * they jump to: `memcpy` with `linkage` set. `list` must be sorted by start, for the entries that
 * know only the address of a function (indirect functions of a static program). */
bool function_read_linkage(struct function_list *list, const struct elf_image *image);

/* Appends a nameless function for each range of .eh_frame. */
bool function_read_unwind(struct function_list *list, const struct elf_image *image);

struct go_table;

/* Reads all of the above, and the functions of a table of Go unless it is NULL, and builds the
 * lookup table. `symbols` are files with a .symtab for this image (itself, a separate debug file,
 * .gnu_debugdata); those that are closed are skipped. The table does not refer to any of the files
 * afterwards. False, and the table is to be freed, when memory is out. */
bool function_table_build(struct function_table *table, const struct elf_image *image,
                          const struct elf_image *const *symbols, size_t symbols_count,
                          const struct go_table *go);
/* The same from symbols, sorted and disjoint, whose offsets count from `address`; what lies behind
 * the highest address is left out. */
bool function_table_of_symbols(struct function_table *table, const struct code_symbol *symbols,
                               size_t count, uint64_t address);
void function_table_free(struct function_table *table);

/* The function at an address; NULL: none. Without a gap it reaches to `until`, where it ends or a
 * function inside it begins. */
struct function *function_table_find(const struct function_table *table, uint64_t address,
                                     uint64_t *until);

/* The function of a name: as in the symbol table, else readable with or without its parameters,
 * else without template arguments, return type and what the compiler puts behind (function_name.h);
 * of several the global one, else the one at the lowest address. NULL: none. */
const struct function *function_table_find_name(const struct function_table *table,
                                                const char *name, struct arena *arena);

/* Whether it has the name in one of these ways. */
bool function_is_called(struct function *function, const char *name, struct arena *arena);

/* The readable name: demangled, "memcpy@plt" for linkage entries; NULL when there is no symbol. */
const char *function_name(struct function *function, struct arena *arena);
