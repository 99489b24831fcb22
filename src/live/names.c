#include "live/names.h"

#include "util/array.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

static bool grow(struct names *names) {
    if (!key_index_resize(&names->index, names->count * 2))
        return false;
    for (size_t i = 0; i < names->count; i++)
        key_index_enter(&names->index, XXH3_64bits(names->items[i], strlen(names->items[i])),
                        (uint32_t)i);
    return true;
}

const char *names_add(struct names *names, const char *name) {
    if (!*name)
        return "";
    if (key_index_is_full(&names->index) && !grow(names))
        return NULL;
    size_t length = strlen(name);
    uint64_t hash = XXH3_64bits(name, length);
    const struct key_index *index = &names->index;
    for (size_t at = key_index_start(index, hash); index->slots[at] != KEY_INDEX_NONE;
         at = key_index_next(index, at))
        if (!strcmp(names->items[index->slots[at]], name))
            return names->items[index->slots[at]];
    char *copy = arena_copy(&names->arena, name, length);
    if (!copy || !array_room(names->items, names->capacity, names->count + 1))
        return NULL;
    names->bytes += length + 1;
    names->items[names->count] = copy;
    key_index_enter(&names->index, hash, (uint32_t)names->count++);
    return copy;
}

void names_free(struct names *names) {
    arena_free(&names->arena);
    free(names->items);
    key_index_free(&names->index);
    *names = (struct names){0};
}
