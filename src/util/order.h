/* Sorted arrays: functions for qsort() and what they return, and finding by halves. */
#pragma once

#include <stddef.h>

/* Below, above or equal to 0. By several keys: ascending(a->x, b->x) ?: descending(a->y, b->y). */
#define ascending(a, b)  (((a) > (b)) - ((a) < (b)))
#define descending(a, b) ascending(b, a)

/* A function for qsort() and bsearch() of items of a type, from an expression about two items that
 * `a` and `b` point to:
 *
 *     ORDER(by_start, struct symbol, ascending(a->start, b->start)) */
#define ORDER(name, type, order)                                                                   \
    static int name(const void *first_, const void *second_) {                                     \
        const type *a = first_, *b = second_;                                                      \
        return order;                                                                              \
    }

/* The first `index` from 0 for which a condition on it is true, which then is true up to `count`;
 * `count` when it never is.
 *
 *     size_t behind = first_where(i, count, items[i].end > address); */
#define first_where(index, count, condition)                                                       \
    ({                                                                                             \
        size_t low_ = 0, high_ = (count);                                                          \
        while (low_ < high_) {                                                                     \
            const size_t index = low_ + (high_ - low_) / 2;                                        \
            if (condition)                                                                         \
                high_ = index;                                                                     \
            else                                                                                   \
                low_ = index + 1;                                                                  \
        }                                                                                          \
        low_;                                                                                      \
    })
