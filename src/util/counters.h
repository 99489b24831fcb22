/* Sums of structs that are all 64-bit counters. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* total += (now − before) × weight, of so many bytes. */
static inline void counters_add(void *total, const void *now, const void *before, size_t size,
                                uint64_t weight) {
    uint64_t *to = total;
    const uint64_t *more = now, *less = before;
    for (size_t i = 0; i < size / sizeof *to; i++)
        to[i] += (more[i] - less[i]) * weight;
}
