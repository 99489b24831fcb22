/* Clocks, in seconds. */
#ifndef CULPRIT_UTIL_CLOCK_H
#define CULPRIT_UTIL_CLOCK_H

#include <time.h>

/* Processor time of all threads of this process so far. */
static inline double clock_processor(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Time that only moves on. Safe in a signal handler. */
static inline double clock_monotonic(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
