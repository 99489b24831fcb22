#include "util/key_numbers.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"

enum { FIRST_SLOTS = 16 };

/* The finaliser of MurmurHash3: offsets differ in few bits, slots are chosen by the lowest. */
static uint64_t mix(uint64_t key) {
    key ^= key >> 33;
    key *= UINT64_C(0xff51afd7ed558ccd);
    key ^= key >> 33;
    key *= UINT64_C(0xc4ceb9fe1a85ec53);
    return key ^ key >> 33;
}

static void place(struct key_numbers *index, uint32_t number) {
    size_t slot = mix(index->keys[number]) & index->mask;
    while (index->slots[slot])
        slot = (slot + 1) & index->mask;
    index->slots[slot] = number + 1;
}

static int grow(struct key_numbers *index) {
    size_t size = index->slots ? 2 * (index->mask + 1) : FIRST_SLOTS;
    uint32_t *slots = calloc(size, sizeof *slots);
    if (!slots)
        return 0;
    free(index->slots);
    index->slots = slots;
    index->mask = size - 1;
    for (size_t i = 0; i < index->count; i++)
        place(index, (uint32_t)i);
    return 1;
}

uint32_t key_numbers_add(struct key_numbers *index, uint64_t key) {
    if (index->slots)
        for (size_t slot = mix(key) & index->mask; index->slots[slot];
             slot = (slot + 1) & index->mask)
            if (index->keys[index->slots[slot] - 1] == key)
                return index->slots[slot] - 1;
    if (index->count >= UINT32_MAX - 1 ||
        ((!index->slots || 2 * (index->count + 1) > index->mask + 1) && !grow(index)) ||
        !array_room(index->keys, index->capacity, index->count + 1))
        return UINT32_MAX;
    uint32_t number = (uint32_t)index->count++;
    index->keys[number] = key;
    place(index, number);
    return number;
}

void key_numbers_free(struct key_numbers *index) {
    free(index->keys);
    free(index->slots);
    memset(index, 0, sizeof *index);
}
