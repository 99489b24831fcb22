#include "live/names.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

const char *names_add(struct names *names, const char *name) {
    if (!*name)
        return "";
    size_t length = strlen(name);
    uint64_t hash = XXH3_64bits(name, length);
    size_t at;
    for (uint32_t i = hash_index_first(&names->index, hash, &at); i != HASH_INDEX_NONE;
         i = hash_index_next(&names->index, hash, &at))
        if (!strcmp(names->items[i], name))
            return names->items[i];
    char *copy = arena_copy(&names->arena, name, length);
    if (!copy || !array_room(names->items, names->capacity, names->count + 1) ||
        !hash_index_add(&names->index, hash, (uint32_t)names->count))
        return NULL;
    names->bytes += length + 1;
    names->items[names->count++] = copy;
    return copy;
}

void names_free(struct names *names) {
    arena_free(&names->arena);
    free(names->items);
    hash_index_free(&names->index);
    *names = (struct names){0};
}
