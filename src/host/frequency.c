/* Of many short stretches the median: what interrupts one of them does not matter. */
#include "host/frequency.h"

#include "host/clock.h"
#include "util/clock.h"

#if defined __x86_64__

enum { STRETCHES = 101, ROUNDS = 400 }; /* of 40,000 additions, some 10 µs, and twice as many */

static double seconds_of(uint64_t rounds) {
    const int64_t before = clock_nanoseconds(CLOCK_MONOTONIC);
    clock_chain(rounds);
    return 1e-9 * (double)(clock_nanoseconds(CLOCK_MONOTONIC) - before);
}

bool host_frequency(double *frequency, struct error *error) {
    double seconds[STRETCHES], spread;
    (void)error;
    for (unsigned i = 0; i < STRETCHES; i++)
        seconds[i] = seconds_of(2 * ROUNDS) - seconds_of(ROUNDS);
    *frequency = ROUNDS * CLOCK_CHAIN_ADDS / clock_median(seconds, STRETCHES, &spread);
    return true;
}

#else

bool host_frequency(double *frequency, struct error *error) {
    (void)frequency;
    return error_set(error, "only the clock of x86-64 processors can be measured");
}

#endif
