/* Instructions that blocks did not execute though they were entered, because others before them in
 * the block raised signals: by block, of which there are few. Inline, for the plugin and the
 * readers of what it counts share no library. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

struct missed_blocks { /* begins as {0}; the owner frees `items` */
    struct missed {
        uint32_t block;
        uint64_t insns; /* in all executions */
    } * items;
    size_t count, capacity;
};

static inline uint64_t missed_of(const struct missed_blocks *missed, uint32_t block) {
    for (size_t i = 0; i < missed->count; i++)
        if (missed->items[i].block == block)
            return missed->items[i].insns;
    return 0;
}

/* False: out of memory. */
static inline bool missed_add(struct missed_blocks *missed, uint32_t block, uint64_t insns) {
    enum { FIRST = 8 };
    size_t i = 0;
    while (i < missed->count && missed->items[i].block != block)
        i++;
    if (i == missed->capacity) {
        size_t capacity = i ? 2 * i : FIRST;
        struct missed *grown = realloc(missed->items, capacity * sizeof *grown);
        if (!grown)
            return false;
        missed->items = grown;
        missed->capacity = capacity;
    }
    if (i == missed->count)
        missed->items[missed->count++] = (struct missed){.block = block};
    missed->items[i].insns += insns;
    return true;
}
