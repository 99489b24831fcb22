/* How fast a thread that runs alone goes from access to access: its clock at every 2^15th of its
 * loads and stores, between which it is taken to go evenly. A circular sequence of a given number
 * of accesses lasts longer in a phase of much computation or many misses, and other threads make
 * more accesses meanwhile. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PACE_SHIFT = 15 };

/* All zero: nothing has ended yet. */
struct pace {
    double *clock; /* [count]: cycles from the start of the run to access (i + 1) << PACE_SHIFT */
    size_t count, capacity;
    double mean; /* cycles of an access over the run; known when it has ended */
};

void pace_free(struct pace *pace);
/* The next interval ends at `clock`. False: out of memory. */
bool pace_end_interval(struct pace *pace, double clock);

/* Access at which the current interval began. */
static inline uint64_t pace_begun(const struct pace *pace) {
    return (uint64_t)pace->count << PACE_SHIFT;
}

/* Cycles until an access, at most pace_begun(). */
static inline double pace_clock(const struct pace *pace, uint64_t time) {
    const uint64_t interval = time >> PACE_SHIFT, within = time & ((1u << PACE_SHIFT) - 1);
    const double begin = interval ? pace->clock[interval - 1] : 0;
    if (within == 0)
        return begin;
    return begin + (pace->clock[interval] - begin) * (double)within / (1u << PACE_SHIFT);
}
