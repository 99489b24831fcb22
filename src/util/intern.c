#include "util/intern.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "util/array.h"

static uint32_t find(const struct intern *intern, const void *bytes, size_t size, uint64_t hash) {
    size_t at;
    for (uint32_t i = hash_index_first(&intern->index, hash, &at); i != HASH_INDEX_NONE;
         i = hash_index_next(&intern->index, hash, &at))
        if (intern->items[i].size == size && !memcmp(intern->items[i].bytes, bytes, size))
            return i;
    return INTERN_NONE;
}

uint32_t intern_find(const struct intern *intern, const void *bytes, size_t size) {
    return find(intern, bytes, size, XXH3_64bits(bytes, size));
}

uint32_t intern_add(struct intern *intern, const void *bytes, size_t size) {
    if (size >= UINT32_MAX)
        return INTERN_NONE;
    uint64_t hash = XXH3_64bits(bytes, size);
    uint32_t known = find(intern, bytes, size, hash);
    if (known != INTERN_NONE)
        return known;
    char *copy = NULL;
    if (intern->count == UINT32_MAX - 1 ||
        !array_room(intern->items, intern->capacity, intern->count + 1) ||
        !(copy = arena_copy(&intern->arena, bytes, size)) ||
        !hash_index_add(&intern->index, hash, (uint32_t)intern->count))
        return INTERN_NONE;
    intern->items[intern->count] = (struct intern_item){.bytes = copy, .size = (uint32_t)size};
    return (uint32_t)intern->count++;
}

void intern_free(struct intern *intern) {
    free(intern->items);
    hash_index_free(&intern->index);
    arena_free(&intern->arena);
    *intern = (struct intern){0};
}
