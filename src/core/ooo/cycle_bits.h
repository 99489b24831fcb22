/* A bit for each cycle of a ring, in words of 64: whether something happens in it. `ring`: cycles,
 * a multiple of 64; no two of the cycles that are marked lie a ring apart. Only the files of this
 * folder include this. */
#pragma once

#include <stdint.h>

static inline void cycle_bits_mark(uint64_t *words, uint32_t ring, uint64_t cycle) {
    words[cycle % ring / 64] |= UINT64_C(1) << cycle % 64;
}

/* Of the cycles of one word from `cycle` to `end`, which may be in a later one: those that are
 * marked, by their place in the word. They are no longer. */
static inline uint64_t cycle_bits_take(uint64_t *words, uint32_t ring, uint64_t cycle,
                                       uint64_t end) {
    uint64_t *word = &words[cycle % ring / 64];
    const uint64_t last = (cycle | 63) < end ? 63 : end % 64;
    const uint64_t taken = *word & ~UINT64_C(0) << cycle % 64 & ~UINT64_C(0) >> (63 - last);
    *word ^= taken;
    return taken;
}

/* The first of the word's cycles from this one on that is marked; UINT64_MAX: none is. */
static inline uint64_t cycle_bits_next(const uint64_t *words, uint32_t ring, uint64_t cycle) {
    const uint64_t ahead = words[cycle % ring / 64] >> cycle % 64;
    return ahead ? cycle + (uint32_t)__builtin_ctzll(ahead) : UINT64_MAX;
}
