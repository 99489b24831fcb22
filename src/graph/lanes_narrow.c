/* Narrow lanes, with AVX-512: thirty-two to a vector. Issue slots are counted in planes of words of
 * 16 cycles, and looked for in the 16 cycles from a lane's own on, be they in one word or two. */
#include "graph/lanes_step.h"

#if defined __x86_64__
#include <immintrin.h>

#define TARGET                                                                                     \
    __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx512vbmi2,avx512bitalg")))
#define CYCLE int16_t
#define BITS  uint16_t
#define WIDTH 32
#include "graph/lanes_kernel.h"

INLINE vector latest(vector a, vector b) {
    return (vector)_mm512_max_epi16((__m512i)a, (__m512i)b);
}

INLINE bool is_any(vector mask) {
    return _mm512_test_epi16_mask((__m512i)mask, (__m512i)mask) != 0;
}

enum { WORD_CYCLES = 16, LAG = 16 };
enum { WORD_BYTES = LANES_PLANE_ROW / 2, PLANE_BYTES = LANES_NARROW_WORDS * WORD_BYTES };
static_assert(LAG + GRAPH_SLOTS <= WORD_CYCLES * LANES_NARROW_WORDS, "holds all that compete");

#define WORD(plane, word) (*(__m512i *)((plane) + (word)*WORD_BYTES))

INLINE __m512i all_of(int16_t x) {
    return _mm512_set1_epi16(x);
}

/* ---- moving the window ---- */

INLINE __m512i lag_of(const struct lanes_group *group, __m512i dispatch, unsigned k) {
    return _mm512_sub_epi16(dispatch, ((const __m512i *)group->base)[k]);
}

#define EACH_PLANE_OF(counter)                                                                     \
    for (char *plane = group->planes + (counter)->plane * PLANE_BYTES + 64 * k,                    \
              *end = plane + (counter)->bits * PLANE_BYTES;                                        \
         plane < end; plane += PLANE_BYTES)

/* Moves the words of `lanes` down, of which the last become empty. */
INLINE void move_words(char *plane, uint32_t words, uint32_t by, __mmask32 lanes) {
    for (uint32_t word = 0; word < words; word++) {
        __m512i from = word + by < words ? WORD(plane, word + by) : _mm512_setzero_si512();
        WORD(plane, word) = _mm512_mask_mov_epi16(WORD(plane, word), lanes, from);
    }
}

/* Shifts the words by less than two; returns the bits that are left, and of the last word too. */
INLINE __m512i shift_words(char *plane, uint32_t words, __m512i by, __m512i *last) {
    __mmask32 word_more = _mm512_cmpge_epu16_mask(by, all_of(WORD_CYCLES));
    __m512i here = WORD(plane, 0), next = WORD(plane, 1), any = _mm512_setzero_si512();
    for (uint32_t word = 0; word < words; word++) {
        __m512i then = word + 2 < words ? WORD(plane, word + 2) : _mm512_setzero_si512();
        __m512i low = _mm512_mask_mov_epi16(here, word_more, next);
        __m512i high = _mm512_mask_mov_epi16(next, word_more, then);
        low = _mm512_shrdv_epi16(low, high, by);
        WORD(plane, word) = low;
        any = _mm512_or_si512(any, low);
        if (word + 1 == words)
            *last = _mm512_or_si512(*last, low);
        here = next;
        next = then;
    }
    return any;
}

/* Moves the window of a vector up to dispatch. */
TARGET __attribute__((noinline)) static void slide(struct lanes_group *group, __m512i dispatch,
                                                   unsigned k) {
    __m512i lag = lag_of(group, dispatch, k), last = _mm512_setzero_si512();
    ((__m512i *)group->base)[k] = dispatch;
    lag = _mm512_min_epu16(lag, all_of(LANES_NARROW_WORDS * WORD_CYCLES));
    for (uint32_t rest = group->taken[k]; rest; rest &= rest - 1) {
        const struct lanes_counter *counter = &group->slots->counters[__builtin_ctz(rest)];
        __m512i by = lag, left = _mm512_setzero_si512();
        for (uint32_t words = LANES_NARROW_WORDS; words > 1; words /= 2) {
            __m512i cycles = all_of((int16_t)(words * WORD_CYCLES));
            __mmask32 lanes = _mm512_cmpge_epu16_mask(by, cycles);
            if (!lanes)
                continue;
            EACH_PLANE_OF(counter) move_words(plane, group->words[k], words, lanes);
            by = _mm512_mask_sub_epi16(by, lanes, by, cycles);
        }
        EACH_PLANE_OF(counter)
        left = _mm512_or_si512(left, shift_words(plane, group->words[k], by, &last));
        if (!is_any((vector)left))
            group->taken[k] &= ~(rest & -rest);
    }
    if (!is_any((vector)last) && group->words[k] > LANES_NARROW_NEAR)
        group->words[k]--;
}

INLINE void keep_up(struct lanes_group *group, __m512i dispatch, unsigned k) {
    if (_mm512_cmpgt_epu16_mask(lag_of(group, dispatch, k), all_of(LAG)))
        slide(group, dispatch, k);
}

/* ---- taking slots ---- */

/* Where a counter is full, but for the planes behind `bit`: `full` is so for those before. */
INLINE __m512i and_needed(__m512i full, __m512i value, uint32_t limit, uint32_t bit) {
    __m512i needed = _mm512_set1_epi32(limit >> bit & 1 ? -1 : 0);
    return _mm512_ternarylogic_epi32(full, value, needed, 0xd0); /* full & (value | ~needed) */
}

/* Of a counter; the compiler knows `count`, so that their words stay in registers. */
struct planes {
    char *first;
    uint32_t count, limit;
};

INLINE struct planes planes_of(const struct lanes_group *group, const struct lanes_slot *slot,
                               unsigned which, uint32_t count) {
    const struct lanes_counter *counter = &group->slots->counters[slot->counters[which]];
    return (struct planes){group->planes + counter->plane * PLANE_BYTES, count, counter->limit};
}

#define EACH_PLANE(planes, bytes)                                                                  \
    char *plane = (planes)->first + (bytes);                                                       \
    _Pragma("GCC unroll 4") for (uint32_t bit = 0; bit < (planes)->count;                          \
                                 bit++, plane += PLANE_BYTES)

INLINE __m512i full_cycles(const struct planes *planes, uint32_t at) {
    __m512i full = all_of(-1);
    EACH_PLANE(planes, at) full = and_needed(full, WORD(plane, 0), planes->limit, bit);
    return full;
}

/* Counts one more in the cycles of `carry`. */
INLINE void count_cycles(const struct planes *planes, uint32_t at, __m512i carry) {
    EACH_PLANE(planes, at) {
        __m512i value = WORD(plane, 0);
        WORD(plane, 0) = _mm512_xor_si512(value, carry);
        carry = _mm512_and_si512(value, carry);
    }
}

INLINE __mmask32 from_word(__m512i cycle, uint32_t word) {
    return _mm512_cmpge_epu16_mask(cycle, all_of((int16_t)(WORD_CYCLES * word)));
}

INLINE __mmask32 in_word(__mmask32 lanes, __m512i word_of, uint32_t word) {
    return _mm512_mask_cmpeq_epi16_mask(lanes, word_of, all_of((int16_t)word));
}

INLINE __m512i full_words(const struct planes *one, const struct planes *other, uint32_t at) {
    __m512i full = full_cycles(one, at);
    return other->count ? _mm512_or_si512(full, full_cycles(other, at)) : full;
}

INLINE void count_words(const struct planes *one, const struct planes *other, uint32_t at,
                        __m512i carry) {
    count_cycles(one, at, carry);
    if (other->count)
        count_cycles(other, at, carry);
}

/* Of `lanes` that look for a slot from `from` on, the first cycle that is not full of 16, which are
 * the bits from there on of `low` and then of `high`; their mask. */
INLINE __mmask32 find_free(__m512i low, __m512i high, __m512i from, __mmask32 lanes,
                           __m512i *free_at) {
    __m512i ahead = _mm512_shrdv_epi16(low, high, from);
    __m512i ones = _mm512_andnot_si512(_mm512_sub_epi16(ahead, all_of(-1)), ahead);
    *free_at = _mm512_add_epi16(from, _mm512_popcnt_epi16(ones));
    return _mm512_mask_cmpneq_epi16_mask(lanes, ahead, all_of(-1));
}

/* The bit of the cycle in its word. */
INLINE __m512i bit_of(__m512i cycle, __mmask32 lanes) {
    return _mm512_maskz_shldv_epi16(lanes, all_of(1), all_of(1), cycle);
}

/* ---- far from dispatch ---- */

/* The set of words that `lanes` are in. */
INLINE uint32_t set_of(__m512i word_of, __mmask32 lanes) {
    __m512i bits = _mm512_maskz_sllv_epi16(lanes, all_of(1), word_of);
    uint32_t pairs = (uint32_t)_mm512_reduce_or_epi32(bits);
    return (pairs | pairs >> 16) & 0xffff;
}

#define EACH_WORD_OF(set)                                                                          \
    for (uint32_t rest = (set), word; rest && (word = (uint32_t)__builtin_ctz(rest), true);        \
         rest &= rest - 1)

/* `lanes` look for a slot in the 16 cycles from theirs on; they get its cycle, or `limit` or what
 * is behind the 16. Returns those that may look on. */
INLINE __mmask32 take_anywhere(struct lanes_group *group, const struct planes *one,
                               const struct planes *other, unsigned k, __m512i limit,
                               __mmask32 lanes, __m512i *cycle) {
    __m512i word_of = _mm512_srli_epi16(*cycle, 4), at;
    __m512i low = _mm512_setzero_si512(), high = low;
    uint32_t set = set_of(word_of, lanes);
    EACH_WORD_OF(set | set << 1) {
        __m512i full = full_words(one, other, word * WORD_BYTES + 64 * k);
        low = _mm512_mask_mov_epi16(low, in_word(lanes, word_of, word), full);
        high = _mm512_mask_mov_epi16(high, in_word(lanes, word_of, word - 1), full);
    }
    __mmask32 found = find_free(low, high, *cycle, lanes, &at);
    __mmask32 competes = _mm512_mask_cmplt_epu16_mask(lanes, at, limit);
    *cycle = _mm512_mask_min_epu16(*cycle, lanes, at, limit);
    __mmask32 takes = found & competes;
    __m512i taken = bit_of(at, takes);
    __m512i taken_word = _mm512_srli_epi16(at, 4);
    EACH_WORD_OF(set | set << 1) {
        __mmask32 here = in_word(takes, taken_word, word);
        count_words(one, other, word * WORD_BYTES + 64 * k, _mm512_maskz_mov_epi16(here, taken));
    }
    uint32_t words = 33 - (uint32_t)__builtin_clz(set);
    group->words[k] = words > group->words[k] ? words : group->words[k];
    return competes & ~found;
}

/* Takes slots of lanes wherever they compete. */
INLINE __m512i take_far(struct lanes_group *group, const struct planes *one,
                        const struct planes *other, __m512i dispatch, __m512i execute, unsigned k,
                        __mmask32 lanes) {
    __m512i base = ((__m512i *)group->base)[k];
    __m512i cycle = _mm512_sub_epi16(execute, base);
    __m512i limit = _mm512_sub_epi16(_mm512_add_epi16(dispatch, all_of(GRAPH_SLOTS)), base);
    lanes = _mm512_mask_cmplt_epu16_mask(lanes, cycle, limit);
    while (lanes)
        lanes = take_anywhere(group, one, other, k, limit, lanes, &cycle);
    return _mm512_add_epi16(cycle, base);
}

/* ---- near dispatch ---- */

#define EACH_NEAR _Pragma("GCC unroll 3") for (uint32_t word = 0; word < NEAR; word++)

/* The words in which cycles lie that begin in the first two. */
enum { NEAR = LANES_NARROW_NEAR };
static_assert(NEAR * WORD_CYCLES <= GRAPH_SLOTS, "near words compete");

/* Lanes whose cycle is near take a slot in the 16 from theirs on, without a branch: far ones are
 * often in the same vector. Returns the lanes that still look for one. */
INLINE __mmask32 take_near(const struct lanes_group *group, const struct planes *one,
                           const struct planes *other, unsigned k, vector *execute) {
    __m512i base = ((const __m512i *)group->base)[k], full[NEAR], at;
    __m512i cycle = _mm512_sub_epi16((__m512i)*execute, base);
    EACH_NEAR full[word] = full_words(one, other, word * WORD_BYTES + 64 * k);
    __mmask32 second = from_word(cycle, 1), near = ~from_word(cycle, 2);
    __m512i low = _mm512_mask_mov_epi16(full[0], second, full[1]);
    __m512i high = _mm512_mask_mov_epi16(full[1], second, full[2]);
    __mmask32 found = find_free(low, high, cycle, near, &at);
    __m512i taken = bit_of(at, found), taken_word = _mm512_srli_epi16(at, 4);
    EACH_NEAR count_words(one, other, word * WORD_BYTES + 64 * k,
                          _mm512_maskz_mov_epi16(in_word(found, taken_word, word), taken));
    cycle = _mm512_mask_mov_epi16(cycle, near, at);
    *execute = (vector)_mm512_add_epi16(cycle, base);
    return ~found;
}

/* One for each number of planes of the two counters; none has more than LANES_BITS. */
#define EACH_TAKE                                                                                  \
    TAKE(1, 0)                                                                                     \
    TAKE(2, 0)                                                                                     \
    TAKE(3, 0)                                                                                     \
    TAKE(4, 0)                                                                                     \
    TAKE(2, 1)                                                                                     \
    TAKE(2, 2) TAKE(3, 1) TAKE(3, 2) TAKE(3, 3) TAKE(4, 1) TAKE(4, 2) TAKE(4, 3) TAKE(4, 4)
#define TAKE(ones, others)                                                                         \
    TARGET __attribute__((noinline)) static __m512i take_far_##ones##_##others(                    \
        struct lanes_group *group, const struct lanes_slot *slot, __m512i dispatch,                \
        __m512i execute, unsigned k, __mmask32 lanes) {                                            \
        struct planes one = planes_of(group, slot, 0, ones);                                       \
        struct planes other = planes_of(group, slot, 1, others);                                   \
        return take_far(group, &one, &other, dispatch, execute, k, lanes);                         \
    }
EACH_TAKE
#undef TAKE

INLINE void take_slots(struct lanes_group *group, const struct lanes_slot *slot,
                       struct nodes *nodes) {
    const struct lanes_counter *counters = group->slots->counters;
    uint32_t planes = counters[slot->counters[0]].bits;
    if (slot->count == 2)
        planes += 8 * counters[slot->counters[1]].bits;
    EACH_BOUND keep_up(group, (__m512i)nodes->dispatch[k], k);
    uint32_t taken = 1u << slot->counters[0] | 1u << slot->counters[slot->count - 1];
    EACH_BOUND group->taken[k] |= taken;
    switch (planes) {
#define TAKE(ones, others)                                                                         \
    case (ones) + 8 * (others): {                                                                  \
        struct planes one = planes_of(group, slot, 0, ones);                                       \
        struct planes other = planes_of(group, slot, 1, others);                                   \
        EACH_BOUND {                                                                               \
            __mmask32 left = take_near(group, &one, &other, k, &nodes->execute[k]);                \
            if (left)                                                                              \
                nodes->execute[k] =                                                                \
                    (vector)take_far_##ones##_##others(group, slot, (__m512i)nodes->dispatch[k],   \
                                                       (__m512i)nodes->execute[k], k, left);       \
        }                                                                                          \
        break;                                                                                     \
    }
        EACH_TAKE
#undef TAKE
    }
}

LANES_KERNEL(lanes_run_narrow)
#endif
