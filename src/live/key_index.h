/* From keys to their numbers in an array that the owner keeps: open addressing with linear probing,
 * 4 bytes a slot. The owner compares keys:
 *
 *     for (size_t at = key_index_start(&index, hash); ; at = key_index_next(&index, at))
 *         if (index.slots[at] == KEY_INDEX_NONE) ... there is none; or is my key that number's? */
#ifndef CULPRIT_LIVE_KEY_INDEX_H
#define CULPRIT_LIVE_KEY_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define KEY_INDEX_NONE UINT32_MAX

struct key_index {
    uint32_t *slots; /* numbers; KEY_INDEX_NONE: free */
    size_t capacity; /* a power of 2, or 0 */
    size_t used;     /* less than 3/4 of it */
};

static inline size_t key_index_start(const struct key_index *index, uint64_t hash) {
    return hash & (index->capacity - 1);
}
static inline size_t key_index_next(const struct key_index *index, size_t at) {
    return (at + 1) & (index->capacity - 1);
}

/* Whether one more key needs a larger table: then the owner calls key_index_resize() and enters
 * every key again. */
static inline bool key_index_is_full(const struct key_index *index) {
    return (index->used + 1) * 4 > index->capacity * 3;
}

/* An empty table with room for at least `count` keys. False, and nothing changed, when memory is
 * out. */
static inline bool key_index_resize(struct key_index *index, size_t count) {
    size_t capacity = 64;
    while (capacity * 3 < (count + 1) * 4)
        capacity *= 2;
    uint32_t *slots = malloc(capacity * sizeof *slots);
    if (!slots)
        return false;
    memset(slots, 0xff, capacity * sizeof *slots);
    free(index->slots);
    *index = (struct key_index){.slots = slots, .capacity = capacity};
    return true;
}

/* Enters a number whose key is not in the table; there is room. */
static inline void key_index_enter(struct key_index *index, uint64_t hash, uint32_t number) {
    size_t at = key_index_start(index, hash);
    while (index->slots[at] != KEY_INDEX_NONE)
        at = key_index_next(index, at);
    index->slots[at] = number;
    index->used++;
}

static inline void key_index_free(struct key_index *index) {
    free(index->slots);
    *index = (struct key_index){0};
}

#endif
