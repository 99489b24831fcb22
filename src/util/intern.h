/* Byte strings to small numbers: each distinct string is kept once and numbered from 0 in the order
 * in which it came.
 *
 *     struct intern names = {0};
 *     uint32_t number = intern_add(&names, text, strlen(text));
 *     puts(intern_text(&names, number));
 *     intern_free(&names);
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/arena.h"
#include "util/hash_index.h"

#define INTERN_NONE UINT32_MAX

struct intern_item {
    const char *bytes; /* with a NUL after them; aligned for any plain type */
    uint32_t size;
};

struct intern {
    struct intern_item *items;
    size_t count, capacity;
    struct hash_index index;
    struct arena arena;
};

/* The number of `size` < 2^32 bytes; INTERN_NONE when memory is out. */
uint32_t intern_add(struct intern *intern, const void *bytes, size_t size);
/* INTERN_NONE: they were never added. */
uint32_t intern_find(const struct intern *intern, const void *bytes, size_t size);
void intern_free(struct intern *intern);

static inline const char *intern_text(const struct intern *intern, uint32_t number) {
    return intern->items[number].bytes;
}
