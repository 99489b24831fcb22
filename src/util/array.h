/* Growable arrays of plain structs: `items`, `count`, `capacity` kept by the owner.
 *
 *     struct point *points = NULL; size_t count = 0, capacity = 0;
 *     if (!array_room(points, capacity, count + 1)) ... out of memory
 *     points[count++] = ...;
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for at least `need` items, doubling. False, and nothing changed, when memory is out
 * or the size overflows. New room is not cleared. */
#define array_room(items, capacity, need)                                                          \
    array_reserve((void **)&(items), &(capacity), need, sizeof *(items))
static inline bool array_reserve(void **items, size_t *capacity, size_t need, size_t item_size) {
    if (need <= *capacity)
        return true;
    size_t grown = *capacity ? *capacity : 16;
    while (grown < need)
        if (__builtin_mul_overflow(grown, (size_t)2, &grown))
            return false;
    size_t bytes;
    if (__builtin_mul_overflow(grown, item_size, &bytes))
        return false;
    void *moved = realloc(*items, bytes);
    if (!moved)
        return false;
    *items = moved;
    *capacity = grown;
    return true;
}

/* The same for an array whose room behind the last item is zero, as it is then again. */
#define array_zeroed_room(items, capacity, need)                                                   \
    array_reserve_zeroed((void **)&(items), &(capacity), need, sizeof *(items))
static inline bool array_reserve_zeroed(void **items, size_t *capacity, size_t need,
                                        size_t item_size) {
    size_t had = *capacity;
    if (!array_reserve(items, capacity, need, item_size))
        return false;
    if (*capacity > had)
        memset((char *)*items + had * item_size, 0, (*capacity - had) * item_size);
    return true;
}
