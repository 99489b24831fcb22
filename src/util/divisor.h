#pragma once

#include <stdint.h>

/* Of 0 and a number it is the number; of two zeros 0 (Euclid). */
static inline uint64_t greatest_common_divisor(uint64_t a, uint64_t b) {
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}
