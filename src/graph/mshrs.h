/* MSHRs as a resource in time: how many are held, in buckets of MSHR_CYCLES cycles. A miss begins
 * with the first bucket from which on every bucket of its fill has a free MSHR. Misses earlier in
 * the program have taken theirs already, whenever they begin. The length of a fill is rounded to
 * whole buckets: one of less than half a bucket, as from the next level, takes none.
 *
 * All zero: none is held, at cycle 0. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
    MSHR_CYCLES = 32,
    MSHR_BUCKETS = 2048, /* looked at, MSHR_BEHIND of them behind dispatch */
    MSHR_BEHIND = 512,
    MSHR_BLOCK = 64, /* forgotten at a time */
    MSHR_MOST = 127  /* MSHRs that are counted */
};

struct mshrs {
    /* No bucket in [from, to) begins `count` buckets in a row with fewer than `limit` held. Since
     * buckets only fill up, these need not be looked at again. */
    struct {
        int64_t from, to, count;
        uint32_t limit;
    } full;
    int64_t first, last; /* buckets that may hold any: [first, last) */
    /* A byte for each, at its number modulo MSHR_BUCKETS; those behind are read with the last. */
    uint8_t held[MSHR_BUCKETS + 8];
};

#define MSHR_EACH UINT64_C(0x0101010101010101)

/* Forgets the buckets before this one. */
static inline void mshrs_forget(struct mshrs *mshrs, int64_t first) {
    int64_t end = first < mshrs->last ? first : mshrs->last;
    uint64_t from = (uint64_t)mshrs->first % MSHR_BUCKETS;
    if (end > mshrs->first) {
        uint64_t count = (uint64_t)(end - mshrs->first), straight = MSHR_BUCKETS - from;
        memset(mshrs->held + from, 0, count < straight ? count : straight);
        memset(mshrs->held, 0, count > straight ? count - straight : 0);
    }
    mshrs->first = first;
    if (mshrs->last < first)
        mshrs->last = first;
}

/* Time begins anew. */
static inline void mshrs_begin(struct mshrs *mshrs) {
    mshrs_forget(mshrs, mshrs->last);
    mshrs->first = mshrs->last = mshrs->full.from = mshrs->full.to = 0;
}

/* How many buckets are looked at at once, from `at` on and before `end`. */
static inline int64_t mshrs_stretch(int64_t at, int64_t end) {
    int64_t straight = MSHR_BUCKETS - (int64_t)((uint64_t)at % MSHR_BUCKETS);
    int64_t most = end - at < 8 ? end - at : 8;
    return most < straight ? most : straight;
}

/* One in each byte of a stretch. */
static inline uint64_t mshrs_each(int64_t stretch) {
    return MSHR_EACH >> (64 - 8 * stretch);
}

/* The first bucket from `at` on that begins `count` buckets in a row with fewer than `limit` held.
 * The search ends MSHR_BUCKETS behind `first`. */
static inline int64_t mshrs_find(const struct mshrs *mshrs, int64_t at, int64_t count,
                                 uint32_t limit) {
    int64_t stop = mshrs->first + MSHR_BUCKETS;
    for (int64_t from = at; from < at + count && at + count <= stop;) {
        int64_t stretch = mshrs_stretch(from, at + count);
        uint64_t word;
        memcpy(&word, mshrs->held + (uint64_t)from % MSHR_BUCKETS, sizeof word);
        uint64_t full = (word + (128 - limit) * MSHR_EACH) & 128 * mshrs_each(stretch);
        if (full)
            from = at = from + (63 - __builtin_clzll(full)) / 8 + 1;
        else
            from += stretch;
    }
    return at;
}

/* The same, and remembers the longest stretch that it searched in vain. */
static inline int64_t mshrs_find_quickly(struct mshrs *mshrs, int64_t at, int64_t count,
                                         uint32_t limit) {
    if (at >= mshrs->full.from && at < mshrs->full.to && count >= mshrs->full.count &&
        limit <= mshrs->full.limit) {
        mshrs->full.to = mshrs_find(mshrs, mshrs->full.to, mshrs->full.count, mshrs->full.limit);
        return mshrs_find(mshrs, mshrs->full.to, count, limit);
    }
    int64_t found = mshrs_find(mshrs, at, count, limit);
    int64_t ahead = mshrs->full.to - (at > mshrs->full.from ? at : mshrs->full.from);
    if (found - at > 8 && found - at > ahead) {
        mshrs->full.from = at;
        mshrs->full.to = found;
        mshrs->full.count = count;
        mshrs->full.limit = limit;
    }
    return found;
}

static inline void mshrs_hold(struct mshrs *mshrs, int64_t at, int64_t count) {
    for (int64_t end = at + count; at < end;) {
        int64_t stretch = mshrs_stretch(at, end);
        uint8_t *held = mshrs->held + (uint64_t)at % MSHR_BUCKETS;
        uint64_t word;
        memcpy(&word, held, sizeof word);
        word += mshrs_each(stretch);
        memcpy(held, &word, sizeof word);
        at += stretch;
    }
}

/* Whether a fill is so long that it holds an MSHR. mshrs_take() need not be called for a shorter
 * one. */
static inline bool mshrs_counts(uint32_t fill) {
    return fill >= MSHR_CYCLES / 2;
}

/* The cycle, `cycle` or later, at which a miss begins that holds one of `limit` MSHRs (0 to
 * MSHR_MOST; 0: unlimited) for `fill` cycles. `dispatched` never decreases from call to call but
 * after mshrs_begin(). */
static inline int64_t mshrs_take(struct mshrs *mshrs, int64_t dispatched, int64_t cycle,
                                 uint32_t fill, uint32_t limit) {
    int64_t count = (fill + MSHR_CYCLES / 2) / MSHR_CYCLES;
    int64_t first = dispatched / MSHR_CYCLES / MSHR_BLOCK * MSHR_BLOCK - MSHR_BEHIND;
    int64_t at = cycle / MSHR_CYCLES;
    if (first > mshrs->first)
        mshrs_forget(mshrs, first);
    if (!count || !limit || at < mshrs->first)
        return cycle;
    int64_t found = mshrs_find_quickly(mshrs, at, count, limit);
    if (found + count <= mshrs->first + MSHR_BUCKETS) {
        mshrs_hold(mshrs, found, count);
        if (found + count > mshrs->last)
            mshrs->last = found + count;
    }
    return found > at ? found * MSHR_CYCLES : cycle;
}

/* Moves the times back, by a multiple of MSHR_PERIOD cycles. */
enum { MSHR_PERIOD = MSHR_CYCLES * MSHR_BUCKETS };
static inline void mshrs_move(struct mshrs *mshrs, int64_t cycles) {
    mshrs->first -= cycles / MSHR_CYCLES;
    mshrs->last -= cycles / MSHR_CYCLES;
    mshrs->full.from -= cycles / MSHR_CYCLES;
    mshrs->full.to -= cycles / MSHR_CYCLES;
}
