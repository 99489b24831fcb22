/* Included by graph/lanes_LEVEL_narrow.c after graph/lanes/kernel.h: the issue slots of narrow
 * lanes, counted in planes of words of 16 cycles. The window begins at `base`, in the first word,
 * and moves up to dispatch. The file defines lanes_mask, a set of lanes of a vector, NEAR, and
 *
 *     is_any_lane(mask)
 *     at_least(x, least)                  the lanes whose x, without a sign, is that or more
 *     choose(mask, then, otherwise)
 *     shift_down(low, high, by)           16 bits from `by` % 16 on of `low` and then of `high`
 *     and_either(x, a, b)                 x & (a | b)
 *
 * and behind it take_near() and take_far(). */

enum { WORD_CYCLES = 16, LAG = 16 };
enum { WORD_BYTES = LANES_PLANE_ROW / 2, PLANE_BYTES = LANES_NARROW_WORDS * WORD_BYTES };
static_assert(LAG + GRAPH_SLOTS <= WORD_CYCLES * LANES_NARROW_WORDS, "holds all that compete");

#define WORD(plane, word) (*(bits *)((plane) + (word)*WORD_BYTES))

INLINE bits all_of(uint16_t x) {
    return (bits){0} + x;
}

/* ---- moving the window ---- */

INLINE bits lag_of(const struct lanes_group *group, vector dispatch, unsigned k) {
    return (bits)(dispatch - ((const vector *)group->base)[k]);
}

#define EACH_PLANE_OF(counter)                                                                     \
    for (char *plane = group->planes + (counter)->plane * PLANE_BYTES + sizeof(bits) * k,          \
              *end = plane + (counter)->bits * PLANE_BYTES;                                        \
         plane < end; plane += PLANE_BYTES)

/* Moves the words of `lanes` down; the last ones become empty. */
INLINE void move_words(char *plane, uint32_t words, uint32_t by, lanes_mask lanes) {
    for (uint32_t word = 0; word < words; word++) {
        bits from = word + by < words ? WORD(plane, word + by) : (bits){0};
        WORD(plane, word) = choose(lanes, from, WORD(plane, word));
    }
}

/* Shifts the words by less than two words. Returns the bits that are left, and adds those of the
 * last word to *last. */
INLINE bits shift_words(char *plane, uint32_t words, bits by, bits *last) {
    lanes_mask word_more = at_least(by, WORD_CYCLES);
    bits here = WORD(plane, 0), next = WORD(plane, 1), any = {0};
    for (uint32_t word = 0; word < words; word++) {
        bits then = word + 2 < words ? WORD(plane, word + 2) : (bits){0};
        bits low = choose(word_more, next, here), high = choose(word_more, then, next);
        low = shift_down(low, high, by);
        WORD(plane, word) = low;
        any |= low;
        if (word + 1 == words)
            *last |= low;
        here = next;
        next = then;
    }
    return any;
}

/* Moves the window of a vector up to dispatch. */
TARGET __attribute__((noinline)) static void slide(struct lanes_group *group, vector dispatch,
                                                   unsigned k) {
    bits lag = lag_of(group, dispatch, k), last = {0};
    bits most = all_of(LANES_NARROW_WORDS * WORD_CYCLES);
    lag = choose(at_least(lag, LANES_NARROW_WORDS * WORD_CYCLES), most, lag);
    ((vector *)group->base)[k] = dispatch;
    for (uint32_t rest = group->taken[k]; rest; rest &= rest - 1) {
        const struct lanes_counter *counter = &group->slots->counters[__builtin_ctz(rest)];
        bits by = lag, left = {0};
        for (uint32_t words = LANES_NARROW_WORDS; words > 1; words /= 2) {
            uint16_t cycles = (uint16_t)(words * WORD_CYCLES);
            lanes_mask lanes = at_least(by, cycles);
            if (!is_any_lane(lanes))
                continue;
            EACH_PLANE_OF(counter) move_words(plane, group->words[k], words, lanes);
            by = choose(lanes, by - cycles, by);
        }
        EACH_PLANE_OF(counter) left |= shift_words(plane, group->words[k], by, &last);
        if (!is_any((vector)left))
            group->taken[k] &= ~(rest & -rest);
    }
    if (!is_any((vector)last) && group->words[k] > LANES_NARROW_NEAR)
        group->words[k]--;
}

INLINE void keep_up(struct lanes_group *group, vector dispatch, unsigned k) {
    if (is_any_lane(at_least(lag_of(group, dispatch, k), LAG + 1)))
        slide(group, dispatch, k);
}

/* ---- words of counters ---- */

#include "graph/lanes/planes.h"

/* The cycles in which the counter is full: all planes of bits that are set in its limit. */
INLINE bits full_cycles(const struct planes *planes, uint32_t at) {
    bits full = ~(bits){0};
    EACH_PLANE(planes, at) {
        bits not_needed = all_of((planes->limit >> bit & 1) - 1);
        full = and_either(full, WORD(plane, 0), not_needed);
    }
    return full;
}

/* Counts one more in the cycles of `carry`. */
INLINE void count_cycles(const struct planes *planes, uint32_t at, bits carry) {
    EACH_PLANE(planes, at) {
        bits value = WORD(plane, 0);
        WORD(plane, 0) = value ^ carry;
        carry &= value;
    }
}

INLINE bits full_words(const struct planes *one, const struct planes *other, uint32_t at) {
    bits full = full_cycles(one, at);
    if (other->count)
        full |= full_cycles(other, at);
    return full;
}

INLINE void count_words(const struct planes *one, const struct planes *other, uint32_t at,
                        bits carry) {
    count_cycles(one, at, carry);
    if (other->count)
        count_cycles(other, at, carry);
}

/* ---- taking slots ---- */

/* Lanes whose cycle is near take a slot in the first NEAR words, without a branch: far ones are
 * often in the same vector. Returns the lanes that still look for one. */
static_assert((int)NEAR <= (int)LANES_NARROW_NEAR, "words that move");
static_assert(NEAR * WORD_CYCLES <= GRAPH_SLOTS, "near words compete");
#define EACH_NEAR _Pragma("GCC unroll 3") for (uint32_t word = 0; word < NEAR; word++)
INLINE lanes_mask take_near(const struct lanes_group *group, const struct planes *one,
                            const struct planes *other, unsigned k, vector *execute);

/* `lanes` take slots wherever they compete. */
INLINE vector take_far(struct lanes_group *group, const struct planes *one,
                       const struct planes *other, vector dispatch, vector execute, unsigned k,
                       lanes_mask lanes);

#define TAKE(ones, others)                                                                         \
    TARGET __attribute__((noinline)) static vector take_far_##ones##_##others(                     \
        struct lanes_group *group, const struct lanes_slot *slot, vector dispatch, vector execute, \
        unsigned k, lanes_mask lanes) {                                                            \
        struct planes one = planes_of(group, slot, 0, ones);                                       \
        struct planes other = planes_of(group, slot, 1, others);                                   \
        return take_far(group, &one, &other, dispatch, execute, k, lanes);                         \
    }
EACH_TAKE
#undef TAKE

INLINE void take_slots(struct lanes_group *group, const struct lanes_slot *slot,
                       struct nodes *nodes) {
    EACH_BOUND keep_up(group, nodes->dispatch[k], k);
    EACH_BOUND group->taken[k] |= taken_counters(slot);
    switch (take_case(group, slot)) {
#define TAKE(ones, others)                                                                         \
    case TAKE_CASE(ones, others): {                                                                \
        struct planes one = planes_of(group, slot, 0, ones);                                       \
        struct planes other = planes_of(group, slot, 1, others);                                   \
        EACH_BOUND {                                                                               \
            lanes_mask left = take_near(group, &one, &other, k, &nodes->execute[k]);               \
            if (is_any_lane(left))                                                                 \
                nodes->execute[k] = take_far_##ones##_##others(group, slot, nodes->dispatch[k],    \
                                                               nodes->execute[k], k, left);        \
        }                                                                                          \
        break;                                                                                     \
    }
        EACH_TAKE
#undef TAKE
    }
}
