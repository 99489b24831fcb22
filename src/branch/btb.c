/* Branch target buffer: the most recently used way of a set comes first, so a loop's branch is
 * found at once and the last way is the one to replace. */
#include "branch/predictors.h"

#include <stdlib.h>
#include <string.h>

bool btb_init(struct btb *btb, uint32_t entries, uint32_t ways, uint32_t far_ways, bool hash) {
    if (!entries)
        return true;
    btb->entries = calloc(entries, sizeof *btb->entries);
    btb->ways = ways;
    btb->far_ways = far_ways;
    btb->set_mask = entries / ways - 1;
    btb->fold = hash ? (uint32_t)__builtin_popcount(btb->set_mask) : 0;
    return btb->entries != NULL;
}

/* Of branches at equal distances, 2 to 64 bytes, each set gets as many. */
static inline uint64_t set_of(const struct btb *btb, uint64_t address) {
    return fold_bits(address >> 1, btb->fold) & btb->set_mask;
}

/* An entry without a branch is near. */
static inline bool is_far(struct btb_entry entry) {
    return entry.key && btb_is_far(entry.key - 1, entry.target);
}

bool btb_predict(struct btb *btb, uint64_t address, uint64_t next, uint64_t *target) {
    struct btb_entry *set = &btb->entries[set_of(btb, address) * btb->ways];
    const struct btb_entry newest = {address + 1, next};
    struct btb_entry moved = newest;
    const bool limited = btb->far_ways && is_far(newest);
    uint32_t way = 0, far = 0;
    for (;;) { /* each way takes the entry of the one before it */
        struct btb_entry old = set[way];
        set[way] = moved;
        const bool last = ++way == btb->ways || (limited && is_far(old) && ++far == btb->far_ways);
        if (old.key == newest.key || last) {
            *target = old.target;
            return old.key == newest.key;
        }
        moved = old;
    }
}

void btb_copy(struct btb *btb, const struct btb *from) {
    if (from->entries)
        memcpy(btb->entries, from->entries,
               ((size_t)from->set_mask + 1) * from->ways * sizeof *btb->entries);
}

bool btb_holds(const struct btb *btb, uint64_t address) {
    if (!btb->entries)
        return true;
    const struct btb_entry *set = &btb->entries[set_of(btb, address) * btb->ways];
    for (uint32_t way = 0; way < btb->ways; way++)
        if (set[way].key == address + 1)
            return true;
    return false;
}
