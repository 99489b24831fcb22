/* A number is written for every slice, and overwritten by the next one unless it counts: no branch
 * is there to be mispredicted. AVX-512 does sixteen at once. */
#include "region/open_slices.h"

#if defined __x86_64__
#include <immintrin.h>
#endif

static size_t one_by_one(const struct slice_bounds *bounds, size_t from, size_t count,
                         uint32_t *open) {
    size_t found = 0;
    for (size_t i = from; i < count; i++) {
        uint32_t label = bounds->labels[i];
        open[found] = (uint32_t)i;
        found += !((bounds->upper[i] < bounds->near[label]) |
                   (bounds->margin[i] > bounds->apart[label]));
    }
    return found;
}

#if defined __x86_64__
__attribute__((target("avx512f"))) static size_t sixteen_at_once(const struct slice_bounds *bounds,
                                                                 size_t count, uint32_t *open) {
    __m512i numbers = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    size_t found = 0, i = 0;
    for (; i + 16 <= count; i += 16) {
        __m512i labels = _mm512_loadu_si512(bounds->labels + i);
        __m512 near = _mm512_i32gather_ps(labels, bounds->near, 4);
        __m512 apart = _mm512_i32gather_ps(labels, bounds->apart, 4);
        __mmask16 stay = _mm512_cmp_ps_mask(_mm512_loadu_ps(bounds->upper + i), near, _CMP_LT_OQ) |
                         _mm512_cmp_ps_mask(_mm512_loadu_ps(bounds->margin + i), apart, _CMP_GT_OQ);
        __mmask16 may_move = (__mmask16)~stay;
        /* What lies behind those found is overwritten later: found ≤ i. */
        _mm512_storeu_si512(open + found, _mm512_maskz_compress_epi32(may_move, numbers));
        found += (size_t)__builtin_popcount(may_move);
        numbers = _mm512_add_epi32(numbers, _mm512_set1_epi32(16));
    }
    return found + one_by_one(bounds, i, count, open + found);
}

size_t open_slices(const struct slice_bounds *bounds, size_t count, uint32_t *open) {
    return __builtin_cpu_supports("avx512f") ? sixteen_at_once(bounds, count, open)
                                             : one_by_one(bounds, 0, count, open);
}
#else
size_t open_slices(const struct slice_bounds *bounds, size_t count, uint32_t *open) {
    return one_by_one(bounds, 0, count, open);
}
#endif
