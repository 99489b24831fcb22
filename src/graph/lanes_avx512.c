/* Lanes with AVX-512: sixteen to a vector, whose slots are gathered and scattered. */
#include "graph/lanes_step.h"

#if defined __x86_64__
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl")))
#define WIDTH  16
#include "graph/lanes_kernel.h"

INLINE vector latest(vector a, vector b) {
    return (vector)_mm512_max_epi32((__m512i)a, (__m512i)b);
}

INLINE __m512i cells_of(__m512i cycle, __m512i first) {
    return _mm512_add_epi32(_mm512_and_si512(cycle, _mm512_set1_epi32(LANES_CELLS - 1)), first);
}

/* Where a slot was full: in the cycles after it. */
TARGET __attribute__((noinline)) static void take_later(uint32_t *table,
                                                        const struct lanes_slot *slot,
                                                        __mmask16 pending, __m512i first,
                                                        __m512i dispatch, vector *cycles) {
    __m512i cycle = (__m512i)*cycles, one = _mm512_set1_epi32(1), cell, taken;
    __m512i add = _mm512_set1_epi32((int32_t)slot->add);
    __m512i full = _mm512_set1_epi32((int32_t)slot->full);
    __m512i increment = _mm512_set1_epi32((int32_t)slot->increment);
    __m512i slots = _mm512_set1_epi32(GRAPH_SLOTS);
    while (pending) {
        cycle = _mm512_mask_add_epi32(cycle, pending, cycle, one);
        pending = _mm512_mask_cmplt_epi32_mask(pending, _mm512_sub_epi32(cycle, dispatch), slots);
        cell = cells_of(cycle, first);
        taken = _mm512_mask_i32gather_epi32(one, pending, cell, table, 4);
        __mmask16 again = _mm512_mask_test_epi32_mask(pending, _mm512_add_epi32(taken, add), full);
        _mm512_mask_i32scatter_epi32(table, pending & (__mmask16)~again, cell,
                                     _mm512_add_epi32(taken, increment), 4);
        pending = again;
    }
    *cycles = (vector)cycle;
}

/* The lanes that are not too far ahead to compete. */
TARGET __attribute__((noinline)) static __mmask16
near_lanes(struct lanes_group *group, const struct nodes *nodes, unsigned vector_index) {
    bool clear = false;
    for (unsigned k = 0; k < VECTORS; k++) {
        ((vector *)group->dispatch)[k] = nodes->dispatch[k];
        __m512i behind = (__m512i)(nodes->dispatch[k] - ((vector *)group->cleared)[k]);
        clear |= _mm512_cmpgt_epi32_mask(behind, _mm512_set1_epi32(LANES_CELLS - GRAPH_SLOTS)) != 0;
    }
    if (clear)
        lanes_clear(group);
    __m512i ahead = (__m512i)(nodes->execute[vector_index] - nodes->dispatch[vector_index]);
    return _mm512_cmplt_epi32_mask(ahead, _mm512_set1_epi32(GRAPH_SLOTS));
}

INLINE void take_slots(struct lanes_group *group, const struct lanes_slot *slot,
                       struct nodes *nodes) {
    uint32_t *table = group->slots + slot->table;
    __m512i add = _mm512_set1_epi32((int32_t)slot->add);
    __m512i full = _mm512_set1_epi32((int32_t)slot->full);
    __m512i increment = _mm512_set1_epi32((int32_t)slot->increment);
    __m512i lane =
        _mm512_mullo_epi32(_mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0),
                           _mm512_set1_epi32(LANES_STRIDE));
    EACH_VECTOR {
        __m512i cycle = (__m512i)nodes->execute[k];
        __m512i first = _mm512_add_epi32(lane, _mm512_set1_epi32((int32_t)(k * 16 * LANES_STRIDE)));
        __m512i behind = _mm512_sub_epi32(cycle, ((__m512i *)group->cleared)[k]);
        __mmask16 near = 0xffff;
        if (__builtin_expect(_mm512_cmpge_epu32_mask(behind, _mm512_set1_epi32(GRAPH_SLOTS)) != 0,
                             0))
            near = near_lanes(group, nodes, k);
        __m512i cell = cells_of(cycle, first);
        __m512i taken = _mm512_mask_i32gather_epi32(cycle, near, cell, table, 4);
        __mmask16 later = _mm512_mask_test_epi32_mask(near, _mm512_add_epi32(taken, add), full);
        _mm512_mask_i32scatter_epi32(table, near & (__mmask16)~later, cell,
                                     _mm512_add_epi32(taken, increment), 4);
        if (__builtin_expect(later != 0, 0))
            take_later(table, slot, later, first, (__m512i)nodes->dispatch[k], &nodes->execute[k]);
    }
}

LANES_KERNEL(lanes_run_avx512)
#endif
