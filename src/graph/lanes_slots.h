/* Included by levels without scatter: slots lane by lane. */

/* Slow: contended, or far ahead. */
TARGET __attribute__((noinline)) static int32_t
take_later(struct lanes_group *group, const struct lanes_slot *slot, uint32_t lane, int32_t cycle) {
    uint32_t *cells = group->slots + slot->table + lane * LANES_STRIDE;
    for (; cycle < group->dispatch[lane] + GRAPH_SLOTS; cycle++) {
        uint32_t *cell = &cells[(uint32_t)cycle % LANES_CELLS];
        if (!((*cell + slot->add) & slot->full)) {
            *cell += slot->increment;
            break;
        }
    }
    return cycle;
}

TARGET __attribute__((noinline)) static void
take_far(struct lanes_group *group, const struct lanes_slot *slot, int32_t *cycles) {
    for (uint32_t lane = 0; lane < LANES_GROUP; lane++)
        if (group->dispatch[lane] - group->cleared[lane] > LANES_CELLS - GRAPH_SLOTS) {
            lanes_clear(group);
            break;
        }
    for (uint32_t lane = 0; lane < LANES_GROUP; lane++)
        cycles[lane] = take_later(group, slot, lane, cycles[lane]);
}

INLINE void take_slots(struct lanes_group *group, const struct lanes_slot *slot,
                       struct nodes *nodes) {
    int32_t cycles[LANES_GROUP] __attribute__((aligned(64)));
    bits far = {0};
    EACH_VECTOR {
        ((vector *)cycles)[k] = nodes->execute[k];
        ((vector *)group->dispatch)[k] = nodes->dispatch[k];
        far |= (bits)(nodes->execute[k] - ((vector *)group->cleared)[k]);
    }
    if (is_any((vector)(far >= (uint32_t)GRAPH_SLOTS))) {
        take_far(group, slot, cycles);
    } else {
        uint32_t *cells = group->slots + slot->table, add = slot->add, full = slot->full,
                 increment = slot->increment;
        _Pragma("GCC unroll 8") for (uint32_t lane = 0; lane < LANES_GROUP; lane++) {
            uint32_t *cell = &cells[lane * LANES_STRIDE + (uint32_t)cycles[lane] % LANES_CELLS];
            uint32_t taken = *cell;
            if (__builtin_expect(((taken + add) & full) != 0, 0))
                cycles[lane] = take_later(group, slot, lane, cycles[lane]);
            else
                *cell = taken + increment;
        }
    }
    EACH_VECTOR nodes->execute[k] = ((vector *)cycles)[k];
}
