#include "util/key_numbers.h"

#include <stdlib.h>

#include "util/array.h"

uint32_t key_numbers_find(const struct key_numbers *numbers, uint64_t key) {
    const uint64_t hash = hash_number(key);
    size_t at;
    for (uint32_t i = hash_index_first(&numbers->index, hash, &at); i != HASH_INDEX_NONE;
         i = hash_index_next(&numbers->index, hash, &at))
        if (numbers->keys[i] == key)
            return i;
    return UINT32_MAX;
}

uint32_t key_numbers_add(struct key_numbers *numbers, uint64_t key) {
    const uint32_t known = key_numbers_find(numbers, key);
    if (known != UINT32_MAX)
        return known;
    if (numbers->count >= UINT32_MAX - 1 ||
        !array_room(numbers->keys, numbers->capacity, numbers->count + 1) ||
        !hash_index_add(&numbers->index, hash_number(key), (uint32_t)numbers->count))
        return UINT32_MAX;
    numbers->keys[numbers->count] = key;
    return (uint32_t)numbers->count++;
}

void key_numbers_free(struct key_numbers *numbers) {
    free(numbers->keys);
    hash_index_free(&numbers->index);
    *numbers = (struct key_numbers){0};
}
