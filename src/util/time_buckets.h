/* Sums of several things over a clock of which nobody knows how far it goes: buckets of one width,
 * so many at most. Where the clock goes beyond the last, each two become one and the width doubles,
 * so that memory is bounded and sums stay exact. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct time_buckets {
    uint64_t width;     /* of the clock; a multiple of the first */
    uint32_t columns;   /* things that are summed */
    uint32_t most;      /* buckets, an even number */
    uint32_t count;     /* of buckets up to the last that has something */
    uint64_t *sums;     /* [bucket * columns + column] */
    size_t capacity;    /* sums that there is room for */
    bool out_of_memory; /* sums are missing */
};

/* Takes no memory before something is added. */
static inline struct time_buckets time_buckets_of(uint32_t columns, uint32_t most, uint64_t width) {
    return (struct time_buckets){.width = width, .columns = columns, .most = most};
}
void time_buckets_free(struct time_buckets *buckets);

/* The sums of the bucket that a clock lies in; NULL: out of memory. Good until the next call. */
uint64_t *time_buckets_at(struct time_buckets *buckets, uint64_t clock);
/* Adds 1 for each tick from `begin` to `end`, where it lies. */
void time_buckets_spread(struct time_buckets *buckets, uint64_t begin, uint64_t end,
                         uint32_t column);
/* Makes them `times` as wide. */
void time_buckets_widen(struct time_buckets *buckets, uint32_t times);
