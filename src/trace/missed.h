/* Instructions that blocks did not execute though they were entered, because others before them in
 * the block raised signals: by block, of which there are few. Inline, for the plugin and the
 * readers of what it counts share no library. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/array.h"

struct missed_blocks { /* begins as {0}; the owner frees `items` */
    struct missed {
        uint32_t block;
        uint64_t insns; /* in all executions */
    } * items;
    size_t count, capacity;
};

static inline uint64_t missed_of(const struct missed_blocks *missed, uint32_t block) {
    const size_t i = index_where(k, missed->count, missed->items[k].block == block);
    return i < missed->count ? missed->items[i].insns : 0;
}

/* False: out of memory. */
static inline bool missed_add(struct missed_blocks *missed, uint32_t block, uint64_t insns) {
    const size_t i = index_where(k, missed->count, missed->items[k].block == block);
    if (i == missed->count && !array_push(missed->items, missed->capacity, missed->count,
                                          (struct missed){.block = block}))
        return false;
    missed->items[i].insns += insns;
    return true;
}
