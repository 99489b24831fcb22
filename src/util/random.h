/* Numbers that look random and are the same on every machine. */
#ifndef CULPRIT_UTIL_RANDOM_H
#define CULPRIT_UTIL_RANDOM_H

#include <stdint.h>

/* SplitMix64 (Steele, Lea and Flood 2014); from 0 to below 1. */
static inline double random_fraction(uint64_t *state) {
    uint64_t x = *state += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return (double)((x ^ x >> 31) >> 11) * 0x1p-53;
}

#endif
