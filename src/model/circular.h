/* Circular sequences, S(x) and b(i, x) of one stream of accesses to one cache (Chen 2009 §3.1,
 * §3.2), by an LRU stack for each set.
 *
 * An access to a set at t, after the last one at s, ends the set's windows k < bits(s xor t). In
 * each of them the set counts once for S, and with as many distinct blocks as were used in it for
 * b: those whose last use lies in the same window as s. These stand at the head of the stack, so
 * block j of it counts in the windows
 *
 *     bits(time(j) xor s) <= k < bits(s xor t)
 *
 * and a difference array over k holds the sum in a few additions an access, usually one or two.
 *
 * A cache of fewer ways hits where the stack is shallower: one pass serves every associativity up
 * to `ways`. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/footprint.h"
#include "model/locality.h"
#include "model/pace.h"

/* The last use of a block. */
struct touch {
    uint64_t block_plus_one; /* 0: no block */
    uint64_t time;           /* number of the access of the thread */
    uint64_t number;         /* of the access to this set */
};

struct circular {
    struct cache_shape shape;
    uint32_t line_shift;
    uint64_t set_mask, accesses, run;
    struct touch *stacks;                              /* [sets][ways], latest first */
    uint64_t (*edges)[LOCALITY_WINDOWS + 1];           /* [ways]: differences over k of windows
                                                          in which a set had more than j blocks */
    struct circular_count (*counts)[LOCALITY_OCTAVES]; /* [ways]; time is in cycles as yet */
    const struct pace *pace;                           /* of the thread; NULL: not known */
    uint64_t (*current)[LOCALITY_OCTAVES]; /* [ways]: of r the accesses in the current interval of
                                              the pace, whose cycles are not known yet */
    uint64_t *set_hits;                    /* [sets][ways]: by depth */
    bool count_blocks;                     /* U(x) too */
    struct footprint footprint;
};

/* False: out of memory. circular_free() either way. */
bool circular_new(struct circular *circular, struct cache_shape shape, bool count_blocks);
void circular_free(struct circular *circular);

/* Access `time`, above that of all before, to an address. Returns the depth at which the block was,
 * 1 for the latest of its set; ways + 1 where the stack does not have it; 0: out of memory. */
uint32_t circular_add(struct circular *circular, uint64_t address, uint64_t time);

/* From the start on, sequences last as long as this pace says, which lives as long. Without it all
 * accesses are equally far apart. */
static inline void circular_follow(struct circular *circular, const struct pace *pace) {
    circular->pace = pace;
}
/* The current interval of the pace is over: each of its accesses took `cycles`. Comes before
 * pace_end_interval(). Accesses of it may still be added after that. */
void circular_pass(struct circular *circular, double cycles);

/* The address will be added soon. */
static inline void circular_prefetch(const struct circular *circular, uint64_t address) {
    const uint64_t set = (address >> circular->line_shift) & circular->set_mask;
    const char *stack = (const char *)&circular->stacks[set * circular->shape.ways];
    for (size_t at = 0; at < circular->shape.ways * sizeof(struct touch); at += 64)
        __builtin_prefetch(stack + at, 1);
}

/* The run ends after `run` ≥ 1 accesses of the thread. No circular_add() follows. False: out of
 * memory. */
bool circular_end(struct circular *circular, uint64_t run);
/* After that: what a cache of these sets with `ways`, at most those of the shape, would have seen.
 * False: out of memory. locality_level_free() either way. */
bool circular_level(const struct circular *circular, uint32_t ways, struct locality_level *level);
/* Fills in U(x) of a level from a stream that counts blocks, of the same accesses and lines. */
void circular_blocks(const struct circular *circular, struct locality_level *level);

/* For the circular sequences of a TLB or an L1; no stacks where it has none, or more ways than
 * LOCALITY_MAX_WAYS. False: out of memory. */
bool circular_new_tlb(struct circular *circular, const struct machine_tlb *tlb, uint32_t page_size);
bool circular_new_l1(struct circular *circular, const struct machine_cache *cache);
/* circular_end() and circular_level(), unless there are no stacks or was no access. */
bool circular_finish(struct circular *circular, uint64_t run, struct locality_level *level);
