/* Lanes with AVX2: eight to a vector. */
#include "graph/lanes/step.h"

#if defined __x86_64__
#include <immintrin.h>

#define TARGET __attribute__((target("avx2")))
#define CYCLE  int32_t
#define BITS   uint32_t
#define WIDTH  8
#include "graph/lanes/kernel.h"

INLINE vector latest(vector a, vector b) {
    return (vector)_mm256_max_epi32((__m256i)a, (__m256i)b);
}

INLINE bool is_any(vector mask) {
    return !_mm256_testz_si256((__m256i)mask, (__m256i)mask);
}

/* The number of the lowest bit that is set; 32: none. A number with this bit alone, made a float,
 * has it as its exponent, and the sign when it is the highest bit. */
INLINE bits lowest(bits x) {
    __m256 alone = _mm256_cvtepi32_ps((__m256i)(x & -x));
    bits number = (((bits)_mm256_castps_si256(alone) >> 23) & 255) - 127;
    return (bits)where((vector)(x == 0), (vector){0} + 32, (vector)number);
}

#include "graph/lanes/slots.h"
#include "graph/lanes/take.h"

LANES_KERNEL(lanes_run_avx2)
#endif
