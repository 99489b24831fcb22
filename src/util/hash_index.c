#include "util/hash_index.h"

#include <stdlib.h>

enum { FIRST_SLOTS = 64 };

static void enter(struct hash_index *index, struct hash_slot slot) {
    size_t at = slot.hash & index->mask;
    while (index->slots[at].number)
        at = (at + 1) & index->mask;
    index->slots[at] = slot;
}

bool hash_index_reserve(struct hash_index *index, size_t count) {
    struct hash_index grown = {.mask = index->slots ? index->mask : FIRST_SLOTS - 1,
                               .count = index->count};
    while (grown.mask + 1 < 2 * count)
        grown.mask = 2 * grown.mask + 1;
    if (index->slots && grown.mask == index->mask)
        return true;
    if (!(grown.slots = calloc(grown.mask + 1, sizeof *grown.slots)))
        return false;
    for (size_t at = 0; index->slots && at <= index->mask; at++)
        if (index->slots[at].number)
            enter(&grown, index->slots[at]);
    free(index->slots);
    *index = grown;
    return true;
}

bool hash_index_add(struct hash_index *index, uint64_t hash, uint32_t number) {
    if (!hash_index_reserve(index, index->count + 1))
        return false;
    enter(index, (struct hash_slot){.hash = (uint32_t)hash, .number = number + 1});
    index->count++;
    return true;
}

void hash_index_free(struct hash_index *index) {
    free(index->slots);
    *index = (struct hash_index){0};
}
