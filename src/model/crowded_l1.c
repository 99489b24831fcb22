#include "model/crowded_l1.h"

#include <math.h>
#include <stdlib.h>

enum { FRACTION_BITS = 32, FEW_WAYS = 4 };
#define SEED 0x9e3779b97f4a7c15u

bool crowded_l1_new(struct crowded_l1 *l1, struct cache_shape shape, double foreign,
                    const struct locality_options *options, struct error *error) {
    *l1 =
        (struct crowded_l1){.foreign = foreign,
                            .step = (uint64_t)llrint(ldexp(foreign, FRACTION_BITS)),
                            .random = SEED,
                            .ways = shape.ways,
                            .line_shift = (uint32_t)__builtin_ctz(shape.line),
                            .set_mask = shape.sets - 1,
                            .blocks = calloc((size_t)shape.sets * shape.ways, sizeof *l1->blocks)};
    return (l1->blocks || error_set(error, "out of memory for the L1D")) &&
           shared_caches_new(&l1->shared, options->shared, options->shared_count, error);
}

void crowded_l1_free(struct crowded_l1 *l1) {
    free(l1->blocks);
    shared_caches_free(&l1->shared);
}

/* xorshift64* (Vigna 2016). */
static uint64_t next_random(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1du >> 32;
}

/* The block becomes the latest; those before where it was, or all, move on by one. Whether it was
 * there. Without a branch, since where it is follows no pattern. */
static inline __attribute__((always_inline)) bool put_first(uint64_t *set, uint64_t block,
                                                            uint32_t ways) {
    uint64_t moved = block;
    bool found = false;
#pragma GCC unroll 4
    for (uint32_t depth = 0; depth < ways; depth++) {
        const uint64_t here = set[depth];
        set[depth] = found ? here : moved;
        moved = here;
        found |= here == block;
    }
    return found;
}

/* A foreign block, which nobody looks for. */
static inline void put_foreign(struct crowded_l1 *l1) {
    uint64_t *set = &l1->blocks[(next_random(&l1->random) & l1->set_mask) * l1->ways];
    for (uint32_t depth = l1->ways - 1; depth; depth--)
        set[depth] = set[depth - 1];
    *set = 0;
}

bool crowded_l1_add(struct crowded_l1 *l1, uint64_t address, uint64_t time) {
    const uint64_t block = (address >> l1->line_shift) + 1;
    uint64_t *set = &l1->blocks[((block - 1) & l1->set_mask) * l1->ways];
    for (l1->due += l1->step; l1->due >> FRACTION_BITS; l1->due -= 1ull << FRACTION_BITS)
        put_foreign(l1);
    const bool hit =
        l1->ways == FEW_WAYS ? put_first(set, block, FEW_WAYS) : put_first(set, block, l1->ways);
    return hit || shared_caches_add(&l1->shared, address, time);
}
