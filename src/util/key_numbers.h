/* 64-bit keys numbered from 0 in order of appearance: what belongs to a key lies in arrays of the
 * caller, by its number. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/hash_index.h"

struct key_numbers { /* all zero: empty */
    uint64_t *keys;  /* by number */
    size_t count, capacity;
    struct hash_index index;
};

/* The number of a key, count − 1 when it is new. UINT32_MAX: out of memory. */
uint32_t key_numbers_add(struct key_numbers *numbers, uint64_t key);

/* The number of a key that was added; UINT32_MAX: it was not. */
uint32_t key_numbers_find(const struct key_numbers *numbers, uint64_t key);

void key_numbers_free(struct key_numbers *numbers); /* empty again */
