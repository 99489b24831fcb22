#include "branch/op_cache.h"

#include <stdlib.h>
#include <string.h>

#include "branch/predictors.h"

bool op_cache_init(struct op_cache *cache, uint32_t entries, uint32_t ways, uint32_t most) {
    if (!entries)
        return true;
    cache->entries = calloc(entries, sizeof *cache->entries);
    cache->ways = ways;
    cache->set_mask = entries / ways - 1;
    cache->fold = (uint32_t)__builtin_popcount(cache->set_mask);
    cache->most = most;
    return cache->entries != NULL;
}

void op_cache_copy(struct op_cache *cache, const struct op_cache *from) {
    uint64_t *const entries = cache->entries;
    *cache = *from;
    cache->entries = entries;
    if (from->entries)
        memcpy(entries, from->entries, ((size_t)from->set_mask + 1) * from->ways * sizeof *entries);
}

/* By all bits of the address, so that code at equal distances does not share sets. */
static inline uint64_t set_of(const struct op_cache *cache, uint64_t address) {
    return fold_bits(address, cache->fold) & cache->set_mask;
}

void op_cache_begin(struct op_cache *cache, uint64_t address) {
    const uint64_t key = (address + 1) << OP_CACHE_COUNT_BITS;
    const uint64_t place = set_of(cache, address) * cache->ways;
    uint64_t *set = &cache->entries[place];
    uint64_t moved = key;
    uint32_t way = 0;
    cache->lookups++;
    cache->missed = true;
    do { /* each way takes the entry of the one before it */
        const uint64_t old = set[way];
        set[way] = moved;
        moved = old;
        cache->missed = (old ^ key) >> OP_CACHE_COUNT_BITS != 0;
    } while (cache->missed && ++way < cache->ways);
    if (!cache->missed)
        set[0] = moved;
    cache->misses += cache->missed;
    cache->begin = address;
    cache->filled = (uint32_t)place;
    cache->left = cache->missed ? cache->most : set[0] & ((1u << OP_CACHE_COUNT_BITS) - 1);
}
