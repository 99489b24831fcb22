/* What remains of a trace for the hybrid model: the accesses on which the length of a dependence
 * chain depends, in program order. All other instructions only pass lengths on, and are resolved
 * into who waits for whom.
 *
 * The model is that of Chen 2009 chapter 2. */
#pragma once

#include <assert.h>
#include <stdint.h>

/* None of these: it only passes on what it waits for, and may have fetched a block. */
enum data_event_flags {
    DATA_MISS = 1 << 0,       /* a load whose block no cache had */
    DATA_HIT = 1 << 1,        /* a load of a block that another event fetched not long ago */
    DATA_PREFETCHED = 1 << 2, /* with DATA_HIT: by a prefetch that the event triggered */
    DATA_FIRST_USE = 1 << 3,  /* with DATA_PREFETCHED: the first to want it */
    DATA_STORE = 1 << 4,      /* a store whose block no cache had */
    DATA_FILL = 1 << 5,       /* with DATA_HIT: the L1 lacked its line, and asks for it as well */
    DATA_TRIGGER = 1 << 6,    /* a prefetcher answered with a fetch from memory */
    DATA_BEYOND = 1 << 7, /* with DATA_TRIGGER: one that takes none of the fewest MSHRs, for they
                             are the L1D's, and it is of a level beyond */
    DATA_FENCE = 1 << 8,  /* alone: all before it is over before anything behind it begins */
    DATA_ALONG_PREFETCHED =
        1 << 9 /* with `along`: of the block whose prefetch that one triggered */
};

enum { DATA_MAX_PRODUCERS = 4 };

/* Events are numbered from 0; others are named by how many events before this one they are. */
struct data_event {
    uint64_t position;        /* µops of the thread before it */
    uint32_t stores;          /* likewise; modulo 2^32 */
    uint32_t fetched_by_uops; /* with DATA_HIT: how many µops back the block was fetched */
    uint16_t fetched_by;      /* with DATA_HIT; ≥ 1 */
    uint16_t producers[DATA_MAX_PRODUCERS]; /* that it waits for to begin */
    uint16_t along; /* the event that fetched, not long ago, the block of which a prefetcher of
                       the L1D asks for another line, or triggered its prefetch; 0: none */
    uint8_t producer_count;
    uint16_t flags; /* enum data_event_flags */
};
static_assert(sizeof(struct data_event) == 32, "read once per configuration");

/* Takes events in order; called with many at a time. */
struct data_sink {
    void (*take)(void *context, const struct data_event *events, uint32_t count);
    void *context;
};
