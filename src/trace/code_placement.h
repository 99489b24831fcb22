/* The functions of a program elsewhere than the linker put them, in a simulation alone.
 *
 * Where a function begins decides whether its loops lie in one line or in two, and so whether a
 * round is fetched at once or in two cycles. The next change of any function before it changes
 * that. So each layout but layout 0 begins each function at another place of a line, which follows
 * from the layout and the function's name alone: functions that two builds share lie alike in
 * lines, whatever else the builds have. Functions keep their order, and so their neighbours in
 * pages and caches. An instruction only has another address; what it does stays.
 *
 * What a function, or code in it, is aligned to is kept, as far as its section says so. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct movable_function {
    uint64_t offset, size; /* in the file; bytes */
    uint64_t alignment;    /* its address keeps its remainder by that: a power of two */
    uint64_t remainder;
    uint64_t key; /* of its name */
};

struct movable_code {
    char *path;                         /* of the file, without links */
    struct movable_function *functions; /* by offset, disjoint */
    size_t count;                       /* 0: none can be moved, for it has no symbols */
};
/* Reads the functions of a file. False: out of memory. movable_code_free() either way. */
bool movable_code_read(const char *path, struct movable_code *code);
void movable_code_free(struct movable_code *code);

struct code_placement {
    const struct movable_code *code;
    uint64_t *moved; /* where each function begins, from a base on */
};
/* Under a layout. False: out of memory. code_placement_free() either way. */
bool code_placement_make(const struct movable_code *code, uint32_t layout,
                         struct code_placement *placement);
void code_placement_free(struct code_placement *placement);

/* Where the instruction at an address and offset in the file lies instead. */
uint64_t code_placement_at(const struct code_placement *placement, uint64_t address,
                           uint64_t offset);
