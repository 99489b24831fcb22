/* Open addressing with linear probing, at most half full. */
#include "util/intern.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "util/array.h"

/* The slot of these bytes, or the free one where they belong. */
static size_t slot_of(const struct intern *intern, const void *bytes, size_t size, uint32_t hash) {
    size_t mask = intern->slot_count - 1, slot = hash & mask;
    for (; intern->slots[slot]; slot = (slot + 1) & mask) {
        const struct intern_item *item = &intern->items[intern->slots[slot] - 1];
        if (item->hash == hash && item->size == size && !memcmp(item->bytes, bytes, size))
            break;
    }
    return slot;
}

static bool grow(struct intern *intern) {
    size_t count = intern->slot_count ? intern->slot_count * 2 : 64;
    uint32_t *slots = calloc(count, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < intern->count; i++) {
        size_t slot = intern->items[i].hash & (count - 1);
        while (slots[slot])
            slot = (slot + 1) & (count - 1);
        slots[slot] = (uint32_t)i + 1;
    }
    free(intern->slots);
    intern->slots = slots;
    intern->slot_count = count;
    return true;
}

uint32_t intern_find(const struct intern *intern, const void *bytes, size_t size) {
    if (!intern->slot_count)
        return INTERN_NONE;
    return intern->slots[slot_of(intern, bytes, size, (uint32_t)XXH3_64bits(bytes, size))] - 1;
}

uint32_t intern_add(struct intern *intern, const void *bytes, size_t size) {
    if (intern->count == UINT32_MAX - 1 || size >= UINT32_MAX ||
        (intern->count * 2 >= intern->slot_count && !grow(intern)))
        return INTERN_NONE;
    uint32_t hash = (uint32_t)XXH3_64bits(bytes, size);
    size_t slot = slot_of(intern, bytes, size, hash);
    if (intern->slots[slot])
        return intern->slots[slot] - 1;
    char *copy = NULL;
    if (!array_room(intern->items, intern->capacity, intern->count + 1) ||
        !(copy = arena_copy(&intern->arena, bytes, size)))
        return INTERN_NONE;
    intern->items[intern->count] =
        (struct intern_item){.bytes = copy, .size = (uint32_t)size, .hash = hash};
    intern->slots[slot] = (uint32_t)++intern->count;
    return (uint32_t)intern->count - 1;
}

void intern_free(struct intern *intern) {
    free(intern->items);
    free(intern->slots);
    arena_free(&intern->arena);
    *intern = (struct intern){0};
}
