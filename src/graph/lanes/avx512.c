/* Lanes with AVX-512: sixteen to a vector. */
#include "graph/lanes/step.h"

#if defined __x86_64__
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx512cd")))
#define CYCLE  int32_t
#define BITS   uint32_t
#define WIDTH  16
#include "graph/lanes/kernel.h"

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

#include "graph/lanes/slots.h"

#define WORD(plane, word) ((__m512i *)(plane))[(word) * (LANES_PLANE_ROW / 64)]

enum { PLANE_BYTES = LANES_WORDS * LANES_PLANE_ROW };

/* The cycles in which a counter is full, as far as the planes up to `bit` tell: `full` tells it for
 * those before. */
INLINE __m512i and_needed(__m512i full, __m512i value, uint32_t limit, uint32_t bit) {
    __m512i needed = _mm512_set1_epi32(limit >> bit & 1 ? -1 : 0);
    return _mm512_ternarylogic_epi32(full, value, needed, 0xd0); /* full & (value | ~needed) */
}

/* The steps from `cycle` to the first cycle that is not occupied, which may be in another word.
 * `occupied` has for each lane the word that its cycle is in. Bits are rotated so that the lane's
 * cycle comes first, and then the ones from there are counted. */
INLINE __m512i step_to_free(__m512i occupied, __m512i cycle) {
    __m512i ahead = _mm512_rorv_epi32(occupied, cycle), all = _mm512_set1_epi32(-1);
    __m512i ones = _mm512_andnot_si512(_mm512_sub_epi32(ahead, all), ahead);
    return _mm512_sub_epi32(_mm512_set1_epi32(32), _mm512_lzcnt_epi32(ones));
}

INLINE __mmask16 same_word(__mmask16 lanes, __m512i a, __m512i b) {
    return _mm512_mask_testn_epi32_mask(lanes, _mm512_xor_si512(a, b), _mm512_set1_epi32(~31));
}

#include "graph/lanes/planes.h"

INLINE __m512i load_word(const struct planes *planes, uint32_t at, __m512i *value) {
    __m512i full = _mm512_set1_epi32(-1);
    EACH_PLANE(planes, at) {
        value[bit] = WORD(plane, 0);
        full = and_needed(full, value[bit], planes->limit, bit);
    }
    return full;
}

/* Counts one more in the cycles of `carry`. */
INLINE void count_word(const struct planes *planes, uint32_t at, const __m512i *value,
                       __m512i carry) {
    EACH_PLANE(planes, at) {
        WORD(plane, 0) = _mm512_xor_si512(value[bit], carry);
        carry = _mm512_and_si512(value[bit], carry);
    }
}

/* Likewise, for each lane the first word or, where `second`, the second. */
INLINE __m512i load_either(const struct planes *planes, uint32_t at, __mmask16 second,
                           __m512i *value) {
    __m512i full = _mm512_set1_epi32(-1);
    EACH_PLANE(planes, at) {
        value[bit] = _mm512_mask_mov_epi32(WORD(plane, 0), second, WORD(plane, 1));
        full = and_needed(full, value[bit], planes->limit, bit);
    }
    return full;
}

INLINE void count_either(const struct planes *planes, uint32_t at, __mmask16 second,
                         const __m512i *value, __m512i carry) {
    EACH_PLANE(planes, at) {
        __m512i more = _mm512_xor_si512(value[bit], carry);
        carry = _mm512_and_si512(value[bit], carry);
        WORD(plane, 0) = _mm512_mask_mov_epi32(more, second, WORD(plane, 0));
        WORD(plane, 1) = _mm512_mask_mov_epi32(WORD(plane, 1), second, more);
    }
}

/* The words that the cycles of `lanes` are in, as bits. */
INLINE uint32_t words_of(__m512i cycle, __mmask16 lanes) {
    __m512i number = _mm512_srli_epi32(cycle, 5);
    return (uint32_t)_mm512_reduce_or_epi32(
        _mm512_maskz_sllv_epi32(lanes, _mm512_set1_epi32(1), number));
}

/* Takes slots for the `pending` lanes of a vector, word by word. Words do not wait for one another,
 * so lanes that go on to the next word are left for another round. */
INLINE vector take_by_word(struct lanes_group *group, const struct planes *one,
                           const struct planes *other, vector dispatch, vector execute, unsigned k,
                           __mmask16 pending) {
    __m512i base = (__m512i)((vector *)group->base)[k];
    __m512i cycle = _mm512_sub_epi32((__m512i)execute, base);
    __m512i limit = _mm512_sub_epi32((__m512i)(dispatch + GRAPH_SLOTS), base);
    do {
        __m512i from = cycle;
        __mmask16 left = 0;
        uint32_t words = words_of(from, pending);
        uint32_t count = 32 - (uint32_t)__builtin_clz(words);
        group->words[k] = count > group->words[k] ? count : group->words[k];
        for (; words; words &= words - 1) {
            uint32_t word = (uint32_t)__builtin_ctz(words),
                     at_word = word * LANES_PLANE_ROW + 64 * k;
            __m512i begin = _mm512_set1_epi32((int32_t)(32 * word));
            __mmask16 here = same_word(pending, from, begin);
            __m512i value[LANES_BITS], value_other[LANES_BITS];
            __m512i occupied = load_word(one, at_word, value);
            if (other->count)
                occupied = _mm512_or_si512(occupied, load_word(other, at_word, value_other));
            __m512i at = _mm512_add_epi32(from, step_to_free(occupied, from));
            __mmask16 inside = same_word(here, at, begin);
            __m512i end = _mm512_add_epi32(begin, _mm512_set1_epi32(32));
            at = _mm512_min_epi32(_mm512_mask_mov_epi32(end, inside, at), limit);
            __mmask16 competes = _mm512_mask_cmplt_epi32_mask(here, at, limit);
            __mmask16 taken = inside & competes;
            __m512i carry = _mm512_maskz_rolv_epi32(taken, _mm512_set1_epi32(1), at);
            count_word(one, at_word, value, carry);
            if (other->count)
                count_word(other, at_word, value_other, carry);
            cycle = _mm512_mask_mov_epi32(cycle, here, at);
            left |= competes & ~taken;
        }
        pending = left;
    } while (pending);
    return (vector)_mm512_add_epi32(cycle, base);
}

/* Takes slots for the lanes that found none nearby. Moves the window first if it lags. */
INLINE void take_far(struct lanes_group *group, const struct planes *one,
                     const struct planes *other, const vector *dispatch, vector *execute,
                     uint64_t far) {
    for (unsigned k = 0; k < BOUND; k++, far >>= WIDTH)
        if (far & 0xffff) {
            if (is_any(dispatch[k] - ((vector *)group->base)[k] > LANES_LAG))
                slide(group, dispatch[k], k);
            execute[k] =
                take_by_word(group, one, other, dispatch[k], execute[k], k, (__mmask16)far);
        }
}

/* Most cycles lie in the first two words, where nothing is GRAPH_SLOTS behind dispatch, and find a
 * slot in their word. Returns the lanes that still look for one. */
INLINE uint64_t take_near(struct lanes_group *group, const struct planes *one,
                          const struct planes *other, struct nodes *nodes) {
    static_assert(GRAPH_SLOTS >= 64, "two words compete");
    const __m512i *base = (const __m512i *)group->base;
    uint64_t far = 0;
    EACH_BOUND {
        __m512i execute = (__m512i)nodes->execute[k];
        __m512i cycle = _mm512_sub_epi32(execute, base[k]);
        __mmask16 near = _mm512_cmplt_epi32_mask(cycle, _mm512_set1_epi32(64));
        __mmask16 second = _mm512_cmpge_epi32_mask(cycle, _mm512_set1_epi32(32));
        __m512i value[LANES_BITS], value_other[LANES_BITS];
        __m512i occupied = load_either(one, 64 * k, second, value);
        if (other->count)
            occupied = _mm512_or_si512(occupied, load_either(other, 64 * k, second, value_other));
        __m512i step = step_to_free(occupied, cycle), at = _mm512_add_epi32(cycle, step);
        __mmask16 taken = same_word(near, at, cycle);
        __m512i carry = _mm512_maskz_rolv_epi32(taken, _mm512_set1_epi32(1), at);
        count_either(one, 64 * k, second, value, carry);
        if (other->count)
            count_either(other, 64 * k, second, value_other, carry);
        __mmask16 competes =
            _mm512_cmplt_epi32_mask(execute, (__m512i)(nodes->dispatch[k] + GRAPH_SLOTS));
        far |= (uint64_t)(uint16_t)(competes & ~taken) << WIDTH * k;
        nodes->execute[k] = (vector)_mm512_mask_add_epi32(execute, taken, execute, step);
    }
    return far;
}

#define TAKE(ones, others)                                                                         \
    TARGET __attribute__((noinline)) static void take_far_##ones##_##others(                       \
        struct lanes_group *group, const struct lanes_slot *slot, const vector *dispatch,          \
        vector *execute, uint64_t far) {                                                           \
        struct planes one = planes_of(group, slot, 0, ones);                                       \
        struct planes other = planes_of(group, slot, 1, others);                                   \
        take_far(group, &one, &other, dispatch, execute, far);                                     \
    }
EACH_TAKE
#undef TAKE

INLINE void take_slots(struct lanes_group *group, const struct lanes_slot *slot,
                       struct nodes *nodes) {
    EACH_BOUND group->taken[k] |= taken_counters(slot);
    vector dispatch[BOUND], execute[BOUND]; /* copies, so that nodes stay in registers */
#define TAKE(ones, others)                                                                         \
    case TAKE_CASE(ones, others): {                                                                \
        struct planes one = planes_of(group, slot, 0, ones);                                       \
        struct planes other = planes_of(group, slot, 1, others);                                   \
        uint64_t far = take_near(group, &one, &other, nodes);                                      \
        if (__builtin_expect(far != 0, 0)) {                                                       \
            EACH_BOUND dispatch[k] = nodes->dispatch[k];                                           \
            EACH_BOUND execute[k] = nodes->execute[k];                                             \
            take_far_##ones##_##others(group, slot, dispatch, execute, far);                       \
            EACH_BOUND nodes->execute[k] = execute[k];                                             \
        }                                                                                          \
        break;                                                                                     \
    }
    switch (take_case(group, slot)) { EACH_TAKE }
}

LANES_KERNEL(lanes_run_avx512)
#endif
