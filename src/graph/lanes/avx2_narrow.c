/* Narrow lanes, with AVX2: sixteen to a vector. Issue slots are looked for word by word: of the
 * cycles with a free slot, those from a lane's own cycle on are kept, and the lowest of them is
 * taken. */
#include "graph/lanes/step.h"

#if defined __x86_64__
#include <immintrin.h>

#define TARGET __attribute__((target("avx2")))
#define CYCLE  int16_t
#define BITS   uint16_t
#define WIDTH  16
#include "graph/lanes/kernel.h"

INLINE vector latest(vector a, vector b) {
    return (vector)_mm256_max_epi16((__m256i)a, (__m256i)b);
}

INLINE bool is_any(vector mask) {
    return !_mm256_testz_si256((__m256i)mask, (__m256i)mask);
}

typedef vector lanes_mask;
enum { NEAR = 2 };

INLINE bool is_any_lane(lanes_mask mask) {
    return is_any(mask);
}

INLINE bits lower(bits a, bits b) {
    return (bits)_mm256_min_epu16((__m256i)a, (__m256i)b);
}

INLINE lanes_mask at_least(bits x, uint16_t least) {
    return (vector)(lower(x, (bits){0} + least) == least);
}

INLINE bits choose(lanes_mask mask, bits then, bits otherwise) {
    return (bits)_mm256_blendv_epi8((__m256i)otherwise, (__m256i)then, (__m256i)mask);
}

/* ---- bits of a word ---- */

INLINE bits look_up(__m128i table, bits index) {
    return (bits)_mm256_shuffle_epi8(_mm256_broadcastsi128_si256(table), (__m256i)index);
}

/* The low byte of each lane twice. */
INLINE bits twice(bits x) {
    const __m128i low = _mm_setr_epi8(0, 0, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10, 12, 12, 14, 14);
    return (bits)_mm256_shuffle_epi8((__m256i)x, _mm256_broadcastsi128_si256(low));
}

/* Bit `number` of each lane, of 0 to 15. */
INLINE bits bit_of(bits number) {
    const __m128i table = _mm_setr_epi8(1, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0);
    return look_up(table, twice(number) ^ 0x0800);
}

/* Number of the only bit, or 0 if there is none: a de Bruijn sequence, shifted by it, begins with
 * four bits that say which it is. */
INLINE bits number_of(bits bit) {
    const __m128i table = _mm_setr_epi8(0, 1, 2, 5, 3, 9, 6, 11, 15, 4, 8, 10, 14, 7, 13, 12);
    return look_up(table, bit * 0x09af >> 12);
}

/* The bits of a word for the cycles from `cycle` on. cycle_twice has it twice in each lane, 255 for
 * none. */
INLINE bits from_on(bits cycle_twice, uint32_t word) {
    const __m128i table =
        _mm_setr_epi8(-1, -2, -4, -8, -16, -32, -64, -128, 0, 0, 0, 0, 0, 0, 0, 0);
    __m256i begin = _mm256_set1_epi16((int16_t)(word * 0x1010 + 0x0800));
    __m256i later = _mm256_subs_epu8((__m256i)cycle_twice, begin);
    /* Numbers of 16 or more become 128 or more, which look up 0. */
    return look_up(table, (bits)_mm256_adds_epu8(later, _mm256_set1_epi8(112)));
}

INLINE bits shift_down(bits low, bits high, bits by) {
    bits up = bit_of(~by & 15); /* by one less, of all shifted up by one */
    bits down = (bits)_mm256_mulhi_epu16((__m256i)(low << 1), (__m256i)up);
    return down | (high << 1 | low >> 15) * up;
}

INLINE bits and_either(bits x, bits a, bits b) {
    return x & (a | b);
}

#include "graph/lanes/narrow_slots.h"

/* ---- far from dispatch ---- */

/* The set of words that `lanes` are in. */
INLINE uint32_t set_of(bits word_of, vector lanes) {
    __m256i set = (__m256i)(bit_of(word_of & 15) & (bits)lanes);
    __m128i half = _mm_or_si128(_mm256_castsi256_si128(set), _mm256_extracti128_si256(set, 1));
    uint64_t four = (uint64_t)_mm_cvtsi128_si64(_mm_or_si128(half, _mm_unpackhi_epi64(half, half)));
    four |= four >> 32;
    return (four | four >> 16) & 0xffff;
}

INLINE vector take_far(struct lanes_group *group, const struct planes *one,
                       const struct planes *other, vector dispatch, vector execute, unsigned k,
                       lanes_mask lanes) {
    vector base = ((vector *)group->base)[k];
    bits limit = (bits)(dispatch + GRAPH_SLOTS - base);
    bits cycle = lower((bits)(execute - base), limit);
    lanes &= (vector)(cycle != limit);
    bits from = twice(choose(lanes, cycle, all_of(255))), end = twice(limit);
    uint32_t last = 0;
    for (uint32_t set = set_of(cycle >> 4, lanes); set; set &= set - 1) {
        uint32_t word = (uint32_t)__builtin_ctz(set), at = word * WORD_BYTES + sizeof(bits) * k;
        bits own = from_on(from, word);
        bits competing = own & ~from_on(end, word) & ~full_words(one, other, at);
        bits taken = competing & -competing;
        count_words(one, other, at, taken);
        vector found = (vector)(taken != 0), on = (vector)(own != 0) & ~found;
        cycle = choose(found, number_of(taken) + (uint16_t)(WORD_CYCLES * word), cycle);
        from |= (bits)found;
        bits next = all_of((uint16_t)(WORD_CYCLES * word + WORD_CYCLES));
        cycle = choose(on, lower(next, limit), cycle);
        if (is_any(on & (vector)(cycle != limit)))
            set |= 2u << word;
        last = word;
    }
    group->words[k] = last + 1 > group->words[k] ? last + 1 : group->words[k];
    return where(lanes, (vector)cycle + base, execute);
}

/* ---- near dispatch ---- */

INLINE lanes_mask take_near(const struct lanes_group *group, const struct planes *one,
                            const struct planes *other, unsigned k, vector *execute) {
    vector base = ((const vector *)group->base)[k];
    bits from = twice(lower((bits)(*execute - base), all_of(255)));
    bits cycle = {0}, all = {0};
    vector left = ~(vector){0};
    EACH_NEAR {
        uint32_t at = word * WORD_BYTES + sizeof(bits) * k;
        bits free = ~full_words(one, other, at) & from_on(from, word) & (bits)left;
        bits taken = free & -free;
        count_words(one, other, at, taken);
        if (word)
            cycle += (bits)left & WORD_CYCLES;
        all |= taken;
        left = (vector)(all == 0);
    }
    cycle += number_of(all);
    *execute = (vector)choose(left, (bits)*execute, cycle + (bits)base);
    return left;
}

LANES_KERNEL(lanes_run_avx2_narrow)
#endif
