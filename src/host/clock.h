/* Inside of the host room: cycles of a placed kernel, in the child that runs it.
 *
 * The unit is a chain of dependent additions, a cycle each, which runs in turn with the kernel:
 * what the processor's frequency, which may change, does to one it does to the other (nanoBench,
 * Abel and Reineke 2020, has counters for this; here is none). Time is the time stamp counter's.
 *
 * A repetition is
 *
 *     chain, kernel n times, kernel 2 n times, chain      cycles = (T(2n) - T(n)) / n / chain
 *
 * so that what lies around the loop, and around the measurement, cancels. It counts only when both
 * chains took the same time, to CLOCK_AGREEMENT, on the same processor: otherwise the frequency
 * changed, or something else ran. The result is the median of those that count; repetitions end
 * when its interval is narrow enough. */
#pragma once

#include "host/child.h"

struct clock_effort {
    unsigned least, most; /* repetitions that count; at most CLOCK_MOST */
    double precision;     /* half of the interval by the median that is narrow enough */
    double seconds;       /* of processor time, at most, of each kernel */
};
enum { CLOCK_MOST = 400 };

/* Fills in the result of a kernel. `context` is a struct clock_effort. */
void clock_measure(void *context, const struct host_placed *placed, struct host_result *result);

/* The chain: 100 additions, each waiting for the one before, so many times over. */
enum { CLOCK_CHAIN_ADDS = 100 };
void clock_chain(uint64_t rounds);
/* Ticks of the time stamp counter that an addition takes now. *processor becomes -1 when it did not
 * run there. */
double clock_unit(int64_t *processor);
/* Whether two such units are the same, to CLOCK_AGREEMENT. */
bool clock_agrees(double before, double after);

/* The median of samples, which are sorted, and half of the interval that holds that of all of them
 * with 95 % probability, from their order alone. count at least 1; spread is infinite below 6. */
double clock_median(double *samples, unsigned count, double *spread);
