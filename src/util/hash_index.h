/* Finds the items of an array by their hashes: open addressing, at most half of the slots taken.
 * The owner keeps the items and compares the keys.
 *
 *     size_t at;
 *     for (uint32_t i = hash_index_first(&index, hash, &at); i != HASH_INDEX_NONE;
 *          i = hash_index_next(&index, hash, &at))
 *         if (same_key(&items[i], key))
 *             return &items[i];
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HASH_INDEX_NONE UINT32_MAX

struct hash_index { /* all zero: empty */
    struct hash_slot {
        uint32_t hash;   /* its low half */
        uint32_t number; /* of the item + 1; 0: free */
    } * slots;
    size_t mask, count;
};

static inline uint32_t hash_index_at(const struct hash_index *index, uint64_t hash, size_t *at) {
    for (; index->slots[*at].number; *at = (*at + 1) & index->mask)
        if (index->slots[*at].hash == (uint32_t)hash)
            return index->slots[*at].number - 1;
    return HASH_INDEX_NONE;
}
/* The number of an item with this hash, then of the next one; HASH_INDEX_NONE: there is no more. */
static inline uint32_t hash_index_first(const struct hash_index *index, uint64_t hash, size_t *at) {
    *at = (uint32_t)hash & index->mask;
    return index->slots ? hash_index_at(index, hash, at) : HASH_INDEX_NONE;
}
static inline uint32_t hash_index_next(const struct hash_index *index, uint64_t hash, size_t *at) {
    *at = (*at + 1) & index->mask;
    return hash_index_at(index, hash, at);
}

/* Makes room for `count` items in all. False: out of memory. */
bool hash_index_reserve(struct hash_index *index, size_t count);
/* Enters an item. False: out of memory, never where room was reserved. */
bool hash_index_add(struct hash_index *index, uint64_t hash, uint32_t number);
void hash_index_free(struct hash_index *index); /* empty again */

static inline size_t hash_index_bytes(const struct hash_index *index) {
    return index->slots ? (index->mask + 1) * sizeof *index->slots : 0;
}

/* A hash of a key that is one number, or two. */
static inline uint64_t hash_number(uint64_t number) {
    number = (number ^ number >> 33) * UINT64_C(0xff51afd7ed558ccd); /* MurmurHash3's finaliser */
    number = (number ^ number >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return number ^ number >> 33;
}
static inline uint64_t hash_pair(uint64_t first, uint64_t second) {
    return hash_number(first ^ hash_number(second + UINT64_C(0x9e3779b97f4a7c15)));
}
