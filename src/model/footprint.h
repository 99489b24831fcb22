/* U(x) of one stream of accesses: distinct blocks in windows of 2^k accesses (binomial model, Chen
 * 2009 §6.2.2), and when each block that the LRU stacks (model/circular.h) have dropped was last
 * used.
 *
 * A block counts in a window once, when the window that its last use lies in is over: so the next
 * use at t after the last at s ends the block's windows k < bits(s xor t), and a histogram of that
 * number is all that there is to keep. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/locality.h"

/* How many of the grid's windows differ between accesses s and t: k = 0 .. windows_over − 1. */
static inline uint32_t windows_over(uint64_t s, uint64_t t) {
    /* Numbers of accesses are below 2^63. */
    const uint32_t bits = 63 - (uint32_t)__builtin_clzll((s ^ t) << 1 | 1);
    return bits < LOCALITY_WINDOWS ? bits : LOCALITY_WINDOWS;
}

/* Neighbouring blocks any of which was dropped. */
enum { FOOTPRINT_GROUP = 8 };
struct footprint_group {
    uint64_t last[FOOTPRINT_GROUP]; /* 1 + time of the last use; 0: never dropped; UINT64_MAX: it is
                                       in a stack, which knows */
};
struct footprint_slot {
    uint64_t group_plus_one;  /* number of a block of it / FOOTPRINT_GROUP; 0: free */
    uint64_t number_plus_one; /* where it lies */
};

/* What happens to a block waits for a while, so that its group is in the cache when it is looked
 * at: nothing but counts comes of it. */
enum { FOOTPRINT_AHEAD = 32 };
struct footprint_event {
    uint64_t block, time;
    uint64_t group_plus_one; /* where its group lies, once found; 0: there is none */
    bool drops;
};

/* All zero: empty. Memory: 96 to 128 bytes for each group, 12 to 16 a block where programs use all
 * of what they touch. */
struct footprint {
    struct footprint_slot *slots;   /* [mask + 1], at most half of them taken */
    struct footprint_group *groups; /* [count], room for (mask + 1) / 2 */
    size_t mask, count;
    uint64_t distinct;                   /* blocks seen */
    uint64_t over[LOCALITY_WINDOWS + 1]; /* uses by windows_over() */
    struct footprint_event ahead[FOOTPRINT_AHEAD];
    uint64_t begun, found, done; /* events */
};

/* A block that no stack has is used at `time`: counts its windows, or it as new. False: out of
 * memory, also for an event before this one. */
bool footprint_return(struct footprint *footprint, uint64_t block, uint64_t time);
/* A stack drops a block last used at `time`. */
bool footprint_drop(struct footprint *footprint, uint64_t block, uint64_t time);
/* The run ends before access `time`: blocks not in a stack count their windows that are over. */
bool footprint_end(struct footprint *footprint, uint64_t time);
void footprint_free(struct footprint *footprint);
