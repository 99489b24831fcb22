#include "util/time_buckets.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

void time_buckets_free(struct time_buckets *buckets) {
    free(buckets->sums);
    *buckets = (struct time_buckets){0};
}

void time_buckets_widen(struct time_buckets *buckets, uint32_t times) {
    const uint32_t columns = buckets->columns, count = buckets->count;
    uint64_t *sums = buckets->sums;
    assert(times > 0);
    buckets->width *= times;
    buckets->count = count / times + (count % times != 0);
    if (times == 1 || !count)
        return;
    for (uint32_t bucket = 1; bucket < count; bucket++)
        for (uint32_t i = 0; i < columns; i++) {
            const uint64_t sum = sums[(size_t)bucket * columns + i];
            sums[(size_t)bucket * columns + i] = 0;
            sums[(size_t)(bucket / times) * columns + i] += sum;
        }
}

uint64_t *time_buckets_at(struct time_buckets *buckets, uint64_t clock) {
    while (clock / buckets->width >= buckets->most)
        time_buckets_widen(buckets, 2);
    const uint32_t bucket = (uint32_t)(clock / buckets->width);
    if (bucket >= buckets->count) {
        if (!array_zeroed_room(buckets->sums, buckets->capacity,
                               ((size_t)bucket + 1) * buckets->columns)) {
            buckets->out_of_memory = true;
            return NULL;
        }
        buckets->count = bucket + 1;
    }
    return &buckets->sums[(size_t)bucket * buckets->columns];
}

void time_buckets_spread(struct time_buckets *buckets, uint64_t begin, uint64_t end,
                         uint32_t column) {
    if (begin >= end || !time_buckets_at(buckets, end - 1)) /* it is as wide as it must be */
        return;
    for (uint64_t at = begin; at < end;) {
        const uint64_t next = (at / buckets->width + 1) * buckets->width;
        const uint64_t until = next < end ? next : end;
        time_buckets_at(buckets, at)[column] += until - at;
        at = until;
    }
}
