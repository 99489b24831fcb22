/* Which µops of a thread are looked at when not all are: the first `all`, in a window of their own
 * unless it is 0, and from there on one window of `length` µops in every period of `every`, in
 * program order. A window begins at a pseudo-random place of its period, the same in every run, so
 * that loops do not keep step with the windows. */
#pragma once

#include <stdint.h>

#include "util/random.h"

struct forecast_windows {
    uint64_t length, every; /* 1 ≤ length ≤ every; every 0: all µops, in one window */
    uint64_t all;
};

struct forecast_window {
    uint64_t from, end; /* sequence numbers of µops: [from, end) */
};

/* The window `number`, from 0. */
static inline struct forecast_window forecast_window(struct forecast_windows windows,
                                                     uint64_t number) {
    if (!windows.every)
        return (struct forecast_window){0, UINT64_MAX};
    if (windows.all && number-- == 0)
        return (struct forecast_window){0, windows.all};
    const uint64_t hash = random_mix((number + 1) * RANDOM_STEP);
    uint64_t from =
        windows.all + number * windows.every + hash % (windows.every - windows.length + 1);
    return (struct forecast_window){from, from + windows.length};
}
