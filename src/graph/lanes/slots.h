/* Included after graph/lanes/kernel.h: issue slots. For each queue and pool that limits issue, the
 * planes of a counter hold, for every lane, how many slots are taken in each cycle of a window that
 * begins at `base`. The bits of a word are 32 cycles. A shift finds the first cycle in which all
 * counters have a slot left, and one is added there as an adder does. The window follows dispatch,
 * since no slot is taken before it any more. */

#define PLANE(plane, word)                                                                         \
    (((bits *)(group->planes + ((plane)*LANES_WORDS + (word)) * LANES_PLANE_ROW))[k])

/* Shifts the planes of a counter. Returns whether any bit of the last word is left. */
INLINE bool slide_counter(struct lanes_group *group, const struct lanes_counter *counter,
                          unsigned k, bits by) {
    uint32_t last = group->words[k] - 1;
    bits left = {0};
    for (uint32_t plane = counter->plane; plane < counter->plane + counter->bits; plane++) {
        bits low = PLANE(plane, 0);
        for (uint32_t word = 0; word < last; word++) {
            bits high = PLANE(plane, word + 1);
            PLANE(plane, word) = low >> by | (high << 1) << (31 - by);
            low = high;
        }
        PLANE(plane, last) = low >> by;
        left |= low >> by;
    }
    return is_any((vector)left);
}

/* Moves the window of a vector up to dispatch. */
TARGET __attribute__((noinline)) static void slide(struct lanes_group *group, vector dispatch,
                                                   unsigned k) {
    vector *base = &((vector *)group->base)[k];
    /* A window that lies wholly behind is shifted out. */
    vector gone = dispatch - (LANES_WORDS + 1) * 32;
    *base = latest(*base, gone);
    while (is_any(dispatch - *base > LANES_LAG)) {
        vector by = dispatch - *base;
        by = where(by > 31, (vector){0} + 31, by);
        bool left = false;
        for (uint32_t rest = group->taken[k]; rest; rest &= rest - 1) {
            uint32_t counter = (uint32_t)__builtin_ctz(rest);
            left |= slide_counter(group, &group->slots->counters[counter], k, (bits)by);
        }
        if (!left && group->words[k] > 2)
            group->words[k]--;
        *base += by;
    }
}

/* The cycles of a word that have no slot left. */
INLINE bits find_full(const struct lanes_group *group, const struct lanes_counter *counter,
                      uint32_t word, unsigned k) {
    bits full = ~(bits){0};
    for (uint32_t bit = 0; bit < counter->bits; bit++)
        if (counter->limit >> bit & 1)
            full &= PLANE(counter->plane + bit, word);
    return full;
}

/* Counts one more in the cycles of `carry`. */
INLINE void count_slot(struct lanes_group *group, const struct lanes_counter *counter,
                       uint32_t word, unsigned k, bits carry) {
    for (uint32_t plane = counter->plane; plane < counter->plane + counter->bits; plane++) {
        bits value = PLANE(plane, word);
        PLANE(plane, word) = value ^ carry;
        carry &= value;
    }
}

/* Takes slots in one word of the window. `cycle` counts from its begin; `pending`: the lanes that
 * still look for a slot. */
INLINE void take_in_word(struct lanes_group *group, const struct lanes_slot *slot, uint32_t word,
                         unsigned k, vector limit, vector *cycle, vector *pending) {
    const struct lanes_counter *first = &group->slots->counters[slot->counters[0]];
    const struct lanes_counter *second = &group->slots->counters[slot->counters[1]];
    vector here = *pending & (*cycle < (int32_t)(32 * word + 32));
    if (!is_any(here))
        return;
    bits full = find_full(group, first, word, k);
    if (slot->count == 2)
        full |= find_full(group, second, word, k);
    bits from = (bits)*cycle & 31;
    vector found = (vector)from + (vector)lowest(~(full >> from));
    vector at = found + (int32_t)(32 * word);
    vector taken = here & (found < 32) & (at < limit);
    bits carry = (bits)(taken & (vector)(((bits){0} + 1) << ((bits)found & 31)));
    count_slot(group, first, word, k, carry);
    if (slot->count == 2)
        count_slot(group, second, word, k, carry);
    *cycle = where(here, where(at < limit, at, limit), *cycle);
    *pending &= ~taken & (*cycle < limit);
    if (word >= group->words[k])
        group->words[k] = word + 1;
}
