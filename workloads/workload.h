/* What every workload shares: arguments, a repeatable random sequence, and memory.
 *
 * A workload is one program with one clear behaviour, stated at the head of its file. Its work is
 * done in functions marked `kernel`, which are never inlined, so that a profile names them and
 * `culprit sim --from FUNCTION` can start there. It prints a checksum, so that no work can be
 * optimised away and results can be compared between architectures. */
#pragma once

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "divide.h"

/* noipa: not even a clone for constant arguments, which would be called kernel.constprop.0. */
#ifdef __clang__
#define kernel __attribute__((noinline)) static
#else
#define kernel __attribute__((noipa)) static
#endif

/* The `position`-th argument (1 the first) as a number from 1 to 2^40, or `standard` when absent.
 */
static inline uint64_t argument(int count, char **arguments, int position, uint64_t standard,
                                const char *meaning) {
    if (position >= count)
        return standard;
    char *end;
    errno = 0;
    unsigned long long value = strtoull(arguments[position], &end, 10);
    if (errno || *end || end == arguments[position] || !value || value > 1ull << 40) {
        fprintf(stderr, "%s: argument %d (%s) is '%s', but must be a number from 1 to 2^40\n",
                arguments[0], position, meaning, arguments[position]);
        exit(2);
    }
    return value;
}

/* Marsaglia's xorshift64*: the same numbers everywhere. */
static inline uint64_t random_next(uint64_t *state) {
    uint64_t x = *state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * 0x2545f4914f6cdd1d;
}

/* A number below `bound` (less than 2^32). */
static inline uint64_t random_below(uint64_t *state, uint64_t bound) {
    return (random_next(state) >> 32) * bound >> 32;
}

/* Memory aligned to a cache line, cleared; ends the program when there is none. */
static inline void *allocate(uint64_t count, size_t size) {
    size_t bytes;
    void *memory = NULL;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2 ||
        !(memory = aligned_alloc(64, (bytes + 63) / 64 * 64))) {
        fprintf(stderr, "no memory for %" PRIu64 " items of %zu bytes\n", count, size);
        exit(1);
    }
    return __builtin_memset(memory, 0, bytes);
}
