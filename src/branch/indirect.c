/* Indirect targets by path: the branch hashed with the targets of the last eight indirect branches
 * selects a tagged entry (the target cache of Chang, Hao and Patt 1997, with tags). Entries are
 * made only for branches the BTB's last target gets wrong; a wrong target is replaced when its
 * confidence has run out, and so is an entry another branch or path needs. */
#include "branch/predictors.h"

#include <stdlib.h>
#include <string.h>

enum { BITS_PER_TARGET = 4 }; /* 32 bits of path: 8 targets */

bool indirect_init(struct indirect *indirect, uint32_t entries) {
    if (!entries)
        return true;
    indirect->entries = calloc(entries, sizeof *indirect->entries);
    indirect->index_bits = (uint32_t)__builtin_ctz(entries);
    return indirect->entries != NULL;
}

/* The high bits of the result depend on every bit of `value` (Fibonacci hashing). */
static uint64_t scatter(uint64_t value) {
    return value * 0x9e3779b97f4a7c15ull;
}

bool indirect_predict(struct indirect *indirect, uint64_t address, uint64_t next,
                      bool fallback_right, uint64_t *target) {
    uint64_t hash = scatter(address + ((uint64_t)indirect->path << 20));
    hash = scatter(hash ^ hash >> 32);
    struct indirect_entry *entry = &indirect->entries[(hash >> 32) >> (32 - indirect->index_bits)];
    uint32_t tag = (uint32_t)(hash >> (48 - indirect->index_bits) & 0xffff) | 1u << 31;
    bool known = entry->tag == tag;
    *target = entry->target;
    if (known && entry->target == next)
        entry->confidence += entry->confidence < 3;
    else if ((known || !fallback_right) && entry->confidence)
        entry->confidence--;
    else if (known || !fallback_right)
        *entry = (struct indirect_entry){next, tag, 1};
    indirect->path = indirect->path << BITS_PER_TARGET ^ (uint32_t)(scatter(next) >> 48);
    return known;
}

void indirect_copy(struct indirect *indirect, const struct indirect *from) {
    if (from->entries)
        memcpy(indirect->entries, from->entries,
               ((size_t)1 << from->index_bits) * sizeof *indirect->entries);
    indirect->path = from->path;
}
