/* The routines of allocators that a program brings along, by their names, and how they are called:
 * of C libraries linked into it, of jemalloc, mimalloc and tcmalloc, of C++, Rust and Go. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "program/elf_image.h"

/* What a routine does; arguments count from 0. */
enum allocator_action {
    ALLOCATOR_NONE,
    ALLOCATOR_SIZE,         /* allocates (size) */
    ALLOCATOR_COUNTED,      /* (count, size) */
    ALLOCATOR_ALIGNED,      /* (alignment, size) */
    ALLOCATOR_INTO,         /* (where to put the address, alignment, size); returns 0 */
    ALLOCATOR_AGAIN,        /* (block, size): also frees it */
    ALLOCATOR_AGAIN_COUNT,  /* (block, count, size) */
    ALLOCATOR_AGAIN_FOURTH, /* (block, ..., ..., size), as Rust's */
    ALLOCATOR_FREE,         /* (block) */
    ALLOCATOR_OF_GO,        /* (size), in the registers of Go's ABI */
    ALLOCATOR_ACTIONS
};

/* Of a symbol, mangled. */
enum allocator_action allocator_action_of(const char *symbol);

struct allocator_routine {
    uint64_t address; /* in the file: as linked */
    uint64_t action;  /* enum allocator_action */
};
enum { ALLOCATOR_ROUTINES = 64 };

/* Those that the file's symbols, or its table of Go, tell of, each address once. Returns how many.
 */
uint32_t allocator_routines_of(const struct elf_image *image,
                               struct allocator_routine routines[ALLOCATOR_ROUTINES]);
/* Whether none of them allocates. */
bool allocator_routines_none(const struct allocator_routine *routines, uint32_t count);
