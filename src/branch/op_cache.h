/* Op cache: keeps what decoding has made of instructions, so that fetch need not wait for it again.
 *
 * An entry begins where fetch does, at the target of a taken branch, at the begin of a line or
 * behind the entry before, and ends with a taken branch, with its line of 64 bytes, or when it is
 * full (Kotra and Kalamatianos 2020). It is found by the address that it begins at: code that is
 * entered at several places has several entries. Which entries there are depends on program order
 * alone, as what branches do, so it is the predictor's (branch_op_cache()). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { OP_CACHE_LINE_BITS = 6 };

struct op_cache {
    uint64_t *entries; /* sets of ways, the last one used first: address + 1 above, and in the low
                          OP_CACHE_COUNT_BITS how many instructions it has; 0: none. NULL: there is
                          no op cache */
    uint32_t ways, set_mask, fold;
    uint32_t most;   /* instructions of an entry */
    uint64_t begin;  /* of the entry that instructions are taken from, or put into: its address */
    uint64_t next;   /* the address behind its last instruction so far */
    uint32_t left;   /* instructions that it has, or has room for, besides */
    uint32_t filled; /* the entry that they are put into, by its place */
    bool missed;     /* it was not there: its instructions are decoded */
    uint64_t lookups, misses;
};
enum { OP_CACHE_COUNT_BITS = 8 };

/* entries = 0: there is none. False: out of memory. */
bool op_cache_init(struct op_cache *cache, uint32_t entries, uint32_t ways, uint32_t most);
/* Of one machine: what another holds. */
void op_cache_copy(struct op_cache *cache, const struct op_cache *from);
/* An entry begins at this address. */
void op_cache_begin(struct op_cache *cache, uint64_t address);

/* The next instruction, by its first byte and its last: whether it is decoded, as the entry that it
 * is of was not there. */
static inline bool op_cache_take(struct op_cache *cache, uint64_t first, uint64_t last) {
    if (first != cache->next || !cache->left || (first ^ cache->begin) >> OP_CACHE_LINE_BITS)
        op_cache_begin(cache, first);
    cache->left--;
    cache->next = last + 1;
    cache->entries[cache->filled] += cache->missed;
    return cache->missed;
}

/* It is one with the branch behind it, whose last byte this is. */
static inline void op_cache_fuse(struct op_cache *cache, uint64_t last) {
    cache->next = last + 1;
}
