/* Lanes with AVX2: eight to a vector. */
#include "graph/lanes_step.h"

#if defined __x86_64__
#include <immintrin.h>

#define TARGET __attribute__((target("avx2")))
#define WIDTH  8
#include "graph/lanes_kernel.h"

INLINE vector latest(vector a, vector b) {
    return (vector)_mm256_max_epi32((__m256i)a, (__m256i)b);
}

INLINE bool is_any(vector mask) {
    return !_mm256_testz_si256((__m256i)mask, (__m256i)mask);
}

#include "graph/lanes_slots.h"

LANES_KERNEL(lanes_run_avx2)
#endif
