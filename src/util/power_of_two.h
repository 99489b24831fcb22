/* Powers of two: what tables and rings that are indexed by a mask have as sizes. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

static inline bool is_power_of_two(uint64_t value) {
    return value && !(value & (value - 1));
}

/* The least one that is not less than `least`, which is at most 2^31. */
static inline uint32_t power_of_two_from(uint64_t least) {
    uint32_t power = 1;
    while (power < least)
        power *= 2;
    return power;
}
