/* Sets of (instruction, signature), each stored once: the same few come again and again in a
 * profile's samples, so that a sample takes four bytes. Inside of the attribute room. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cell_sets {
    uint64_t *words; /* all sets, one behind the other */
    size_t used, capacity;
    uint32_t *slots; /* of a hash table: number of a set + 1; 0 is free */
    uint32_t slot_mask, count;
};

/* A set's first word has its size in the top bits. */
enum { CELL_SIZE_SHIFT = 56, CELL_SET_MAX = 255 };

enum { NO_CELL_SET = UINT32_MAX };

bool cell_sets_init(struct cell_sets *sets);
void cell_sets_end(struct cell_sets *sets);

/* The number of the set of the cells of n tap_uop words, 1 to CELL_SET_MAX of them, with these
 * events of their signatures, in this order. NO_CELL_SET: out of memory. */
uint32_t cell_sets_find(struct cell_sets *sets, const uint64_t *uops, unsigned n, uint32_t events);

/* The cells, as tap_uop words without flags. */
static inline unsigned cell_set_size(const struct cell_sets *sets, uint32_t number) {
    return (unsigned)(sets->words[number] >> CELL_SIZE_SHIFT);
}
static inline uint64_t cell_set_cell(const struct cell_sets *sets, uint32_t number, unsigned i) {
    return sets->words[number + i] & ((UINT64_C(1) << CELL_SIZE_SHIFT) - 1);
}
