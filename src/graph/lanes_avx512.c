/* Lanes with AVX-512: sixteen to a vector. */
#include "graph/lanes_step.h"

#if defined __x86_64__
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx512cd")))
#define WIDTH  16
#include "graph/lanes_kernel.h"

INLINE vector latest(vector a, vector b) {
    return (vector)_mm512_max_epi32((__m512i)a, (__m512i)b);
}

INLINE bool is_any(vector mask) {
    return _mm512_test_epi32_mask((__m512i)mask, (__m512i)mask) != 0;
}

/* Number of the lowest bit that is set; 32: none. */
INLINE bits lowest(bits x) {
    return 32 - (bits)_mm512_lzcnt_epi32((__m512i)(~x & (x - 1)));
}

#include "graph/lanes_slots.h"

/* Takes slots of the lanes that have found none nearby: first moves the window, where it lags; then
 * word by word. What is GRAPH_SLOTS behind dispatch or more takes none. */
TARGET __attribute__((noinline)) static vector take_far(struct lanes_group *group,
                                                        const struct lanes_slot *slot,
                                                        vector dispatch, vector execute, unsigned k,
                                                        vector pending) {
    if (is_any(dispatch - ((vector *)group->base)[k] > LANES_LAG))
        slide(group, dispatch, k);
    vector base = ((vector *)group->base)[k], cycle = execute - base;
    vector limit = dispatch + GRAPH_SLOTS - base;
    pending &= cycle < limit;
    for (uint32_t word = 0; word < LANES_WORDS && is_any(pending); word++)
        take_in_word(group, slot, word, k, limit, &cycle, &pending);
    return cycle + base;
}

/* Of each lane the first or the second word of a plane. */
#define EITHER(plane)     _mm512_mask_mov_epi32(WORD(plane, 0), second, WORD(plane, 1))
#define WORD(plane, word) ((__m512i)PLANE(plane, word))

INLINE void store_either(struct lanes_group *group, uint32_t plane, unsigned k, __mmask16 second,
                         __m512i value) {
    _mm512_mask_store_epi32(&PLANE(plane, 0), (__mmask16)~second, value);
    _mm512_mask_store_epi32(&PLANE(plane, 1), second, value);
}

/* As count_slot(), in the first or the second word of each lane; `full`: the last plane. */
INLINE void count_either(struct lanes_group *group, const struct lanes_counter *counter, unsigned k,
                         __mmask16 second, __m512i full, __m512i carry) {
    uint32_t plane = counter->plane;
    for (uint32_t bit = 0; bit < counter->bits; bit++, plane++) {
        __m512i value = EITHER(plane);
        store_either(group, plane, k, second, _mm512_xor_si512(value, carry));
        carry = counter->inverted >> bit & 1 ? _mm512_andnot_si512(value, carry)
                                             : _mm512_and_si512(value, carry);
    }
    store_either(group, plane, k, second, _mm512_or_si512(full, carry));
}

/* Most cycles lie in the first two words, where nothing is GRAPH_SLOTS behind dispatch, and have a
 * place in their word: bits are rotated so that each lane's cycle comes first, and the ones there
 * are counted. */
INLINE void take_slots(struct lanes_group *group, const struct lanes_slot *slot,
                       struct nodes *nodes) {
    static_assert(GRAPH_SLOTS >= 64, "two words compete");
    const struct lanes_counter *one = &group->slots->counters[slot->counters[0]];
    const struct lanes_counter *other = &group->slots->counters[slot->counters[1]];
    const __m512i word = _mm512_set1_epi32(32), words = _mm512_set1_epi32(64);
    const __m512i all = _mm512_set1_epi32(-1), single = _mm512_set1_epi32(1);
    group->taken |= 1u << slot->counters[0] | 1u << slot->counters[slot->count - 1];
    EACH_VECTOR {
        __m512i cycle = (__m512i)(nodes->execute[k] - ((vector *)group->base)[k]);
        __mmask16 near = _mm512_cmplt_epi32_mask(cycle, words);
        __mmask16 second = _mm512_cmpge_epi32_mask(cycle, word);
        __m512i full = EITHER(one->plane + one->bits), full_other = full, occupied = full;
        if (slot->count == 2) {
            full_other = EITHER(other->plane + other->bits);
            occupied = _mm512_or_si512(full, full_other);
        }
        __m512i ahead = _mm512_rorv_epi32(occupied, cycle);
        __m512i ones = _mm512_andnot_si512(_mm512_sub_epi32(ahead, all), ahead);
        __m512i step = _mm512_sub_epi32(word, _mm512_lzcnt_epi32(ones));
        __m512i at = _mm512_add_epi32(cycle, step);
        __mmask16 taken =
            _mm512_mask_testn_epi32_mask(near, _mm512_xor_si512(at, cycle), _mm512_set1_epi32(~31));
        __m512i carry = _mm512_maskz_rolv_epi32(taken, single, at);
        count_either(group, one, k, second, full, carry);
        if (slot->count == 2)
            count_either(group, other, k, second, full_other, carry);
        nodes->execute[k] = (vector)_mm512_mask_add_epi32((__m512i)nodes->execute[k], taken,
                                                          (__m512i)nodes->execute[k], step);
        if (__builtin_expect(taken != 0xffff, 0))
            nodes->execute[k] = take_far(group, slot, nodes->dispatch[k], nodes->execute[k], k,
                                         (vector)_mm512_movm_epi32((__mmask16)~taken));
    }
}

LANES_KERNEL(lanes_run_avx512)
#endif
