/* Included after graph/lanes/slots.h: takes slots word by word. */

INLINE void take_slots(struct lanes_group *group, const struct lanes_slot *slot,
                       struct nodes *nodes) {
    uint32_t taken = 1u << slot->counters[0] | 1u << slot->counters[slot->count - 1];
    EACH_BOUND group->taken[k] |= taken;
    EACH_BOUND {
        if (__builtin_expect(is_any(nodes->dispatch[k] - ((vector *)group->base)[k] > LANES_LAG),
                             0))
            slide(group, nodes->dispatch[k], k);
        vector base = ((vector *)group->base)[k];
        vector limit = nodes->dispatch[k] + GRAPH_SLOTS - base;
        vector cycle = nodes->execute[k] - base, pending = cycle < limit;
        for (uint32_t word = 0; word < LANES_WORDS && (word < 2 || is_any(pending)); word++)
            take_in_word(group, slot, word, k, limit, &cycle, &pending);
        nodes->execute[k] = cycle + base;
    }
}
