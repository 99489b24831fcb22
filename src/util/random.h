/* Numbers that look random and are the same on every machine. */
#pragma once

#include <stdint.h>

/* SplitMix64 (Steele, Lea and Flood 2014): its finaliser, which is a hash of 64 bits, and the next
 * number of a sequence. */
#define RANDOM_STEP UINT64_C(0x9e3779b97f4a7c15)
static inline uint64_t random_mix(uint64_t x) {
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}
static inline uint64_t random_next(uint64_t *state) {
    return random_mix(*state += RANDOM_STEP);
}

/* The next number, from 0 to below 1. */
static inline double random_fraction(uint64_t *state) {
    return (double)(random_next(state) >> 11) * 0x1p-53;
}
