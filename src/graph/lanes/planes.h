/* Included by the kernels that have vectors of bits, after PLANE_BYTES, the bytes from one plane of
 * a counter to the next, is defined: the planes of the counters that limit a slot. */

/* The planes of a counter. The compiler knows `count`, so that their words stay in registers. */
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

/* One case for each number of planes of the two counters; none has more than LANES_BITS. */
#define EACH_TAKE                                                                                  \
    TAKE(1, 0)                                                                                     \
    TAKE(2, 0)                                                                                     \
    TAKE(3, 0)                                                                                     \
    TAKE(4, 0)                                                                                     \
    TAKE(2, 1)                                                                                     \
    TAKE(2, 2) TAKE(3, 1) TAKE(3, 2) TAKE(3, 3) TAKE(4, 1) TAKE(4, 2) TAKE(4, 3) TAKE(4, 4)
#define TAKE_CASE(ones, others) ((ones) + 8 * (others))

INLINE uint32_t take_case(const struct lanes_group *group, const struct lanes_slot *slot) {
    const struct lanes_counter *counters = group->slots->counters;
    return TAKE_CASE(counters[slot->counters[0]].bits,
                     slot->count == 2 ? counters[slot->counters[1]].bits : 0);
}

/* The counters that a slot is taken of, as bits. */
INLINE uint32_t taken_counters(const struct lanes_slot *slot) {
    return 1u << slot->counters[0] | 1u << slot->counters[slot->count - 1];
}
