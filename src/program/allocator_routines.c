#include "program/allocator_routines.h"

#include <stdlib.h>
#include <string.h>

#include "program/function.h"
#include "program/go_table.h"
#include "util/array.h"

static const struct row {
    const char *name;
    enum allocator_action action;
} ROUTINES[] = {
    {"malloc", ALLOCATOR_SIZE},
    {"calloc", ALLOCATOR_COUNTED},
    {"realloc", ALLOCATOR_AGAIN},
    {"reallocarray", ALLOCATOR_AGAIN_COUNT},
    {"memalign", ALLOCATOR_ALIGNED},
    {"aligned_alloc", ALLOCATOR_ALIGNED},
    {"posix_memalign", ALLOCATOR_INTO},
    {"valloc", ALLOCATOR_SIZE},
    {"pvalloc", ALLOCATOR_SIZE},
    {"free", ALLOCATOR_FREE},
    {"cfree", ALLOCATOR_FREE},
    /* jemalloc's own */
    {"mallocx", ALLOCATOR_SIZE},
    {"rallocx", ALLOCATOR_AGAIN},
    {"dallocx", ALLOCATOR_FREE},
    {"sdallocx", ALLOCATOR_FREE},
    /* mimalloc's own: alignments come last */
    {"mi_zalloc", ALLOCATOR_SIZE},
    {"mi_malloc_aligned", ALLOCATOR_SIZE},
    {"mi_zalloc_aligned", ALLOCATOR_SIZE},
    {"mi_realloc_aligned", ALLOCATOR_AGAIN},
    {"mi_free_size", ALLOCATOR_FREE},
    {"mi_free_size_aligned", ALLOCATOR_FREE},
    {"mi_free_aligned", ALLOCATOR_FREE},
    /* Rust's */
    {"__rust_alloc", ALLOCATOR_SIZE},
    {"__rust_alloc_zeroed", ALLOCATOR_SIZE},
    {"__rust_realloc", ALLOCATOR_AGAIN_FOURTH},
    {"__rust_dealloc", ALLOCATOR_FREE},
    {"__rdl_alloc", ALLOCATOR_SIZE},
    {"__rdl_alloc_zeroed", ALLOCATOR_SIZE},
    {"__rdl_realloc", ALLOCATOR_AGAIN_FOURTH},
    {"__rdl_dealloc", ALLOCATOR_FREE},
    {"__rg_alloc", ALLOCATOR_SIZE},
    {"__rg_alloc_zeroed", ALLOCATOR_SIZE},
    {"__rg_realloc", ALLOCATOR_AGAIN_FOURTH},
    {"__rg_dealloc", ALLOCATOR_FREE},
};

static enum allocator_action find_row(const char *name) {
    for (size_t i = 0; i < sizeof ROUTINES / sizeof *ROUTINES; i++)
        if (strcmp(ROUTINES[i].name, name) == 0)
            return ROUTINES[i].action;
    return ALLOCATOR_NONE;
}

/* What allocators put before the names of C's routines when they do not take their place. */
static enum allocator_action find_prefixed(const char *name) {
    static const char *const PREFIXES[] = {"je_", "_rjem_", "mi_", "tc_"};
    for (size_t i = 0; i < sizeof PREFIXES / sizeof *PREFIXES; i++) {
        const size_t length = strlen(PREFIXES[i]);
        if (strncmp(name, PREFIXES[i], length) == 0)
            return find_row(name + length);
    }
    return ALLOCATOR_NONE;
}

/* operator new and delete, in one form or another: (size ...) and (block ...). */
static enum allocator_action find_operator(const char *name) {
    if (strncmp(name, "_Znwm", 5) == 0 || strncmp(name, "_Znam", 5) == 0)
        return ALLOCATOR_SIZE;
    if (strncmp(name, "_ZdlPv", 6) == 0 || strncmp(name, "_ZdaPv", 6) == 0)
        return ALLOCATOR_FREE;
    return ALLOCATOR_NONE;
}

/* Rust 1.87 and later mangle theirs: _RNvCs..._7___rustc12___rust_alloc. */
static enum allocator_action find_mangled(const char *name) {
    static const char CRATE[] = "7___rustc";
    const char *at = strncmp(name, "_R", 2) == 0 ? strstr(name, CRATE) : NULL;
    if (!at)
        return ALLOCATOR_NONE;
    at += strlen(CRATE);
    at += strspn(at, "0123456789");
    return *at == '_' ? find_row(at + 1) : ALLOCATOR_NONE;
}

enum allocator_action allocator_action_of(const char *symbol) {
    enum allocator_action action = find_row(symbol);
    action = action ? action : find_prefixed(symbol);
    action = action ? action : find_operator(symbol);
    return action ? action : find_mangled(symbol);
}

static void add(struct allocator_routine *routines, uint32_t *count, uint64_t address,
                enum allocator_action action) {
    if (action && *count < ALLOCATOR_ROUTINES &&
        !any_where(i, *count, routines[i].address == address))
        routines[(*count)++] = (struct allocator_routine){address, action};
}

/* Where a C library is shared, a routine of that name that is not global is another; static linking
 * may make it local. Rust's and C++'s are reserved names. */
static bool may_be(const struct function *function, bool shares) {
    return !shares || function->binding != STB_LOCAL || function->symbol[0] == '_';
}

/* In all layouts of the table that are known, Go passes arguments in registers. */
static void add_go(const struct elf_image *image, struct allocator_routine *routines,
                   uint32_t *count) {
    struct go_table *table = go_table_read(image);
    struct function_list list = {0};
    if (table && go_table_functions(table, image, &list))
        for (size_t i = 0; i < list.count; i++)
            if (strcmp(list.items[i].symbol, "runtime.mallocgc") == 0)
                add(routines, count, list.items[i].start, ALLOCATOR_OF_GO);
    free(list.items);
    go_table_free(table);
}

uint32_t allocator_routines_of(const struct elf_image *image,
                               struct allocator_routine routines[ALLOCATOR_ROUTINES]) {
    struct function_list list = {0};
    GElf_Shdr header;
    const bool shares = elf_image_section(image, ".interp", &header);
    uint32_t count = 0;
    if (function_read_symbols(&list, image, image, SHT_SYMTAB))
        for (size_t i = 0; i < list.count; i++)
            if (may_be(&list.items[i], shares))
                add(routines, &count, list.items[i].start,
                    allocator_action_of(list.items[i].symbol));
    free(list.items);
    add_go(image, routines, &count);
    return count;
}

bool allocator_routines_none(const struct allocator_routine *routines, uint32_t count) {
    return !any_where(i, count, routines[i].action != ALLOCATOR_FREE);
}
