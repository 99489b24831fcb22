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

/* Takes slots of the lanes left, word by word. */
TARGET __attribute__((noinline)) static __m512i take_rest(struct lanes_group *group,
                                                          const struct lanes_slot *slot, unsigned k,
                                                          __m512i limit, __m512i cycle,
                                                          __mmask16 rest) {
    vector cycles = (vector)cycle, pending = (vector)_mm512_movm_epi32(rest);
    for (uint32_t word = 0; word < LANES_WORDS; word++)
        take_in_word(group, slot, word, k, (vector)limit, &cycles, &pending);
    return (__m512i)cycles;
}

/* Of each lane the first or the second word of a plane. */
#define EITHER(plane)     _mm512_mask_mov_epi32(WORD(plane, 0), second, WORD(plane, 1))
#define WORD(plane, word) ((__m512i)PLANE(plane, word))

/* As count_slot(), in the first or the second word of each lane. */
INLINE void count_either(struct lanes_group *group, const struct lanes_counter *counter, unsigned k,
                         __mmask16 second, __m512i carry) {
    uint32_t plane = counter->plane;
    for (uint32_t bit = 0; bit <= counter->bits; bit++, plane++) {
        __m512i value = EITHER(plane), sum = _mm512_xor_si512(value, carry);
        if (bit == counter->bits)
            sum = _mm512_or_si512(value, carry);
        _mm512_mask_store_epi32(&PLANE(plane, 0), (__mmask16)~second, sum);
        _mm512_mask_store_epi32(&PLANE(plane, 1), second, sum);
        carry = counter->inverted >> bit & 1 ? _mm512_andnot_si512(value, carry)
                                             : _mm512_and_si512(value, carry);
    }
}

/* Most cycles lie in the first two words, so these are looked at at once. */
INLINE void take_slots(struct lanes_group *group, const struct lanes_slot *slot,
                       struct nodes *nodes) {
    const struct lanes_counter *one = &group->slots->counters[slot->counters[0]];
    const struct lanes_counter *other = &group->slots->counters[slot->counters[1]];
    const __m512i word = _mm512_set1_epi32(32);
    EACH_VECTOR {
        prepare_window(group, slot, nodes->dispatch[k], k);
        __m512i base = ((__m512i *)group->base)[k];
        __m512i limit = (__m512i)(nodes->dispatch[k] + GRAPH_SLOTS - (vector)base);
        __m512i cycle = _mm512_sub_epi32((__m512i)nodes->execute[k], base);
        __mmask16 pending = _mm512_cmplt_epi32_mask(cycle, limit);
        __mmask16 near = _mm512_mask_cmplt_epi32_mask(pending, cycle, _mm512_set1_epi32(64));
        __mmask16 second = _mm512_cmpge_epi32_mask(cycle, word);
        __m512i full = EITHER(one->plane + one->bits);
        if (slot->count == 2)
            full = _mm512_or_si512(full, EITHER(other->plane + other->bits));
        bits from = (bits)cycle & 31;
        bits step = lowest(~((bits)full >> from));
        __m512i at = (__m512i)(from + step), moved = _mm512_add_epi32(cycle, (__m512i)step);
        __mmask16 taken = _mm512_mask_cmplt_epi32_mask(near, at, word);
        taken = _mm512_mask_cmplt_epi32_mask(taken, moved, limit);
        __m512i carry = _mm512_maskz_sllv_epi32(taken, _mm512_set1_epi32(1), at);
        count_either(group, one, k, second, carry);
        if (slot->count == 2)
            count_either(group, other, k, second, carry);
        cycle = _mm512_mask_min_epi32(cycle, near, moved, limit);
        __mmask16 rest = _mm512_mask_cmplt_epi32_mask(pending & (__mmask16)~taken, cycle, limit);
        if (__builtin_expect(rest != 0, 0))
            cycle = take_rest(group, slot, k, limit, cycle, rest);
        nodes->execute[k] = (vector)_mm512_add_epi32(cycle, base);
    }
}

LANES_KERNEL(lanes_run_avx512)
#endif
