/* Narrow lanes, with AVX-512: thirty-two to a vector. Issue slots are looked for in the 16 cycles
 * from a lane's own on, whether they are in one word or in two. */
#include "graph/lanes/step.h"

#if defined __x86_64__
#include <immintrin.h>

#define TARGET                                                                                     \
    __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx512vbmi2,avx512bitalg")))
#define CYCLE int16_t
#define BITS  uint16_t
#define WIDTH 32
#include "graph/lanes/kernel.h"

INLINE vector latest(vector a, vector b) {
    return (vector)_mm512_max_epi16((__m512i)a, (__m512i)b);
}

INLINE bool is_any(vector mask) {
    return _mm512_test_epi16_mask((__m512i)mask, (__m512i)mask) != 0;
}

typedef __mmask32 lanes_mask;
enum { NEAR = 3 };

INLINE bool is_any_lane(lanes_mask mask) {
    return mask != 0;
}

INLINE lanes_mask at_least(bits x, uint16_t least) {
    return _mm512_cmpge_epu16_mask((__m512i)x, _mm512_set1_epi16((int16_t)least));
}

INLINE bits choose(lanes_mask mask, bits then, bits otherwise) {
    return (bits)_mm512_mask_mov_epi16((__m512i)otherwise, mask, (__m512i)then);
}

INLINE bits shift_down(bits low, bits high, bits by) {
    return (bits)_mm512_shrdv_epi16((__m512i)low, (__m512i)high, (__m512i)by);
}

INLINE bits and_either(bits x, bits a, bits b) {
    return (bits)_mm512_ternarylogic_epi32((__m512i)x, (__m512i)a, (__m512i)b, 0xe0);
}

#include "graph/lanes/narrow_slots.h"

/* ---- bits of a word ---- */

INLINE lanes_mask in_word(lanes_mask lanes, bits word_of, uint32_t word) {
    return _mm512_mask_cmpeq_epi16_mask(lanes, (__m512i)word_of, (__m512i)all_of((uint16_t)word));
}

INLINE bits only(lanes_mask lanes, bits x) {
    return (bits)_mm512_maskz_mov_epi16(lanes, (__m512i)x);
}

/* Finds for `lanes` the first cycle from `from` on that is not full, among 16 cycles: the bits of
 * `low` from there on, then those of `high`. Returns the lanes that found one. */
INLINE lanes_mask find_free(bits low, bits high, bits from, lanes_mask lanes, bits *free_at) {
    bits ahead = shift_down(low, high, from);
    bits ones = ~(ahead + 1) & ahead;
    *free_at = from + (bits)_mm512_popcnt_epi16((__m512i)ones);
    return _mm512_mask_cmpneq_epi16_mask(lanes, (__m512i)ahead, (__m512i)all_of(UINT16_MAX));
}

/* The bit of the cycle in its word. */
INLINE bits bit_of(bits cycle, lanes_mask lanes) {
    __m512i one = (__m512i)all_of(1);
    return (bits)_mm512_maskz_shldv_epi16(lanes, one, one, (__m512i)cycle);
}

/* ---- far from dispatch ---- */

/* The set of words that `lanes` are in. */
INLINE uint32_t set_of(bits word_of, lanes_mask lanes) {
    __m512i words = _mm512_maskz_sllv_epi16(lanes, (__m512i)all_of(1), (__m512i)word_of);
    uint32_t pairs = (uint32_t)_mm512_reduce_or_epi32(words);
    return (pairs | pairs >> 16) & 0xffff;
}

#define EACH_WORD_OF(set)                                                                          \
    for (uint32_t rest = (set), word; rest && (word = (uint32_t)__builtin_ctz(rest), true);        \
         rest &= rest - 1)

/* `lanes` look for a slot in the 16 cycles from theirs on; each gets the cycle found, or `limit`,
 * or the one behind the 16. Returns those that may look on. */
INLINE lanes_mask take_anywhere(struct lanes_group *group, const struct planes *one,
                                const struct planes *other, unsigned k, bits limit,
                                lanes_mask lanes, bits *cycle) {
    bits word_of = *cycle >> 4, low = {0}, high = {0}, at;
    uint32_t set = set_of(word_of, lanes);
    EACH_WORD_OF(set | set << 1) {
        bits full = full_words(one, other, word * WORD_BYTES + 64 * k);
        low = choose(in_word(lanes, word_of, word), full, low);
        high = choose(in_word(lanes, word_of, word - 1), full, high);
    }
    lanes_mask found = find_free(low, high, *cycle, lanes, &at);
    lanes_mask competes = _mm512_mask_cmplt_epu16_mask(lanes, (__m512i)at, (__m512i)limit);
    *cycle = (bits)_mm512_mask_min_epu16((__m512i)*cycle, lanes, (__m512i)at, (__m512i)limit);
    lanes_mask takes = found & competes;
    bits taken = bit_of(at, takes), taken_word = at >> 4;
    EACH_WORD_OF(set | set << 1)
    count_words(one, other, word * WORD_BYTES + 64 * k,
                only(in_word(takes, taken_word, word), taken));
    uint32_t words = 33 - (uint32_t)__builtin_clz(set);
    group->words[k] = words > group->words[k] ? words : group->words[k];
    return competes & ~found;
}

INLINE vector take_far(struct lanes_group *group, const struct planes *one,
                       const struct planes *other, vector dispatch, vector execute, unsigned k,
                       lanes_mask lanes) {
    vector base = ((vector *)group->base)[k];
    bits cycle = (bits)(execute - base), limit = (bits)(dispatch + GRAPH_SLOTS - base);
    lanes = _mm512_mask_cmplt_epu16_mask(lanes, (__m512i)cycle, (__m512i)limit);
    while (lanes)
        lanes = take_anywhere(group, one, other, k, limit, lanes, &cycle);
    return (vector)cycle + base;
}

/* ---- near dispatch ---- */

/* In the 16 cycles from a lane's own on, which is in the first two words. */
INLINE lanes_mask take_near(const struct lanes_group *group, const struct planes *one,
                            const struct planes *other, unsigned k, vector *execute) {
    vector base = ((const vector *)group->base)[k];
    bits cycle = (bits)(*execute - base), full[NEAR], at;
    EACH_NEAR full[word] = full_words(one, other, word * WORD_BYTES + 64 * k);
    lanes_mask second = at_least(cycle, WORD_CYCLES), near = ~at_least(cycle, 2 * WORD_CYCLES);
    bits low = choose(second, full[1], full[0]), high = choose(second, full[2], full[1]);
    lanes_mask found = find_free(low, high, cycle, near, &at);
    bits taken = bit_of(at, found), taken_word = at >> 4;
    EACH_NEAR count_words(one, other, word * WORD_BYTES + 64 * k,
                          only(in_word(found, taken_word, word), taken));
    *execute = (vector)choose(near, at, cycle) + base;
    return ~found;
}

LANES_KERNEL(lanes_run_avx512_narrow)
#endif
