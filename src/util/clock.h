/* Clocks. All are safe in a signal handler. */
#pragma once

#include <stdint.h>
#include <time.h>

static inline int64_t clock_nanoseconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline double clock_seconds(clockid_t clock) {
    return 1e-9 * (double)clock_nanoseconds(clock);
}

/* Processor time of all threads of this process so far, in seconds. */
static inline double clock_processor(void) {
    return clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
}

/* Time that only moves on, in seconds. */
static inline double clock_monotonic(void) {
    return clock_seconds(CLOCK_MONOTONIC);
}

/* Nanoseconds since 1970, as stores keep times. */
static inline int64_t clock_since_1970(void) {
    return clock_nanoseconds(CLOCK_REALTIME);
}
