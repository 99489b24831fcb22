/* Growable arrays of plain structs: `items`, `count`, `capacity` kept by the owner.
 *
 *     struct point *points = NULL; size_t count = 0, capacity = 0;
 *     if (!array_push(points, capacity, count, point)) ... out of memory
 *
 * And questions that are put to all items of an array, growable or not. */
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

/* Appends an item, the last argument. False, and nothing changed, when memory is out. */
#define array_push(items, capacity, count, ...)                                                    \
    (array_room(items, capacity, (size_t)(count) + 1) && ((items)[(count)++] = (__VA_ARGS__), true))

/* Frees pointers and then the array that holds them, which may be NULL. */
#define array_free_each(items, count)                                                              \
    do {                                                                                           \
        for (size_t index_ = 0; (items) && index_ < (count); index_++)                             \
            free((items)[index_]);                                                                 \
        free(items);                                                                               \
    } while (0)

/* The first index below `count` of which a condition on `index` is true; `count`: of none. None
 * behind it is looked at.
 *
 *     size_t slot = index_where(i, count, !slots[i].taken); */
#define index_where(index, count, ...)                                                             \
    ({                                                                                             \
        size_t index = 0;                                                                          \
        while (index < (count) && !(__VA_ARGS__))                                                  \
            index++;                                                                               \
        (size_t)(index); /* a bare name is no value to cppcheck */                                 \
    })
/* Whether it is true of any; or of all of them. */
#define any_where(index, count, ...) (index_where(index, count, __VA_ARGS__) < (count))
#define all_where(index, count, ...) (!any_where(index, count, !(__VA_ARGS__)))

/* The first index below `count`, which is not 0, where a number (uint64_t) is least. It is found
 * without a branch that depends on numbers.
 *
 *     size_t victim = index_of_least(i, ways, set[i].used); */
#define index_of_least(index, count, ...)                                                          \
    ({                                                                                             \
        size_t index = 0, found_ = 0;                                                              \
        uint64_t least_ = (__VA_ARGS__);                                                           \
        for (index = 1; index < (count); index++) {                                                \
            const uint64_t number_ = (__VA_ARGS__);                                                \
            found_ = number_ < least_ ? index : found_;                                            \
            least_ = number_ < least_ ? number_ : least_;                                          \
        }                                                                                          \
        found_;                                                                                    \
    })

/* The sum, in a type, of an expression over all indices below `count`. */
#define sum_over(type, index, count, ...)                                                          \
    ({                                                                                             \
        type sum_ = 0;                                                                             \
        for (size_t index = 0; index < (count); index++)                                           \
            sum_ += (__VA_ARGS__);                                                                 \
        sum_;                                                                                      \
    })
