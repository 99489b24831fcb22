/* Branch target buffer: the most recently used way of a set comes first, so a loop's branch is
 * found at once and the last way is the one to replace. */
#include "branch/predictors.h"

#include <stdlib.h>
#include <string.h>

bool btb_init(struct btb *btb, uint32_t entries, uint32_t ways) {
    if (!entries)
        return true;
    btb->entries = calloc(entries, sizeof *btb->entries);
    btb->ways = ways;
    btb->set_mask = entries / ways - 1;
    return btb->entries != NULL;
}

bool btb_predict(struct btb *btb, uint64_t address, uint64_t next, uint64_t *target) {
    struct btb_entry *set = &btb->entries[((address >> 1) & btb->set_mask) * btb->ways];
    uint64_t key = address + 1;
    uint32_t way = 0, last = btb->ways - 1;
    while (way < last && set[way].key != key)
        way++;
    bool found = set[way].key == key;
    *target = set[way].target;
    if (way)
        memmove(set + 1, set, way * sizeof *set);
    set[0] = (struct btb_entry){key, next};
    return found;
}
