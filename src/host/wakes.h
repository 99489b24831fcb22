/* What it takes to wake a thread that sleeps in a futex on another processor of the host.
 *
 * Two threads, each on a processor of its own, wake each other by turns, as a lock does that both
 * want: whoever is woken wakes the other at once and sleeps, so no processor is idle for longer
 * than a round takes, and which of its idle states it would choose in time does not matter. */
#pragma once

#include "host/meter.h"

enum host_wake {
    HOST_WAKE_LATENCY, /* from the wake until the woken thread runs: half of a round */
    HOST_WAKE_LATE,    /* the same of one that has slept for a millisecond */
    HOST_WAKE_CALL,    /* what the call takes who wakes it */
    HOST_WAKES
};

/* Nanoseconds of each (in `cycles`), by enum host_wake. Where there is only one processor to be
 * had, all are HOST_UNSUPPORTED; what other load disturbs is HOST_UNSTABLE. False: there is no
 * memory, or no second thread. */
bool host_wakes_measure(bool quick, const struct watcher *watcher,
                        struct host_result results[HOST_WAKES], struct error *error);

/* One of these results of its samples, whose order is changed: unstable where they spread too far,
 * or where a wake took so long that the processor was another thread's meanwhile. */
void host_wake_conclude(struct host_result *result, double *samples, unsigned count);
