/* The fastest of several turns of a loop with the event, and of as many without, in turns: what
 * others do to a turn only makes it slower. */
#include "live/interrupt_cost.h"

#include <math.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "live/event.h"
#include "util/clock.h"

enum { TURNS = 24, LOOPS_TRIED = 1 << 20 };
static const double TURN_SECONDS = 5e-3, LEAST_SECONDS = 1e-6;

static double seconds_of(uint64_t loops) {
    const double start = clock_monotonic();
    for (uint64_t i = 0; i < loops; i++)
        __asm__ volatile("" : "+r"(i));
    return clock_monotonic() - start;
}

static double compare(int counter, uint64_t period) {
    double with = INFINITY, without = INFINITY;
    const double tried = fmax(seconds_of(LOOPS_TRIED), 1e-5);
    const uint64_t loops = (uint64_t)(LOOPS_TRIED * TURN_SECONDS / tried);
    for (int turn = 0; turn < TURNS; turn++) {
        without = fmin(without, seconds_of(loops));
        ioctl(counter, PERF_EVENT_IOC_ENABLE, 0);
        with = fmin(with, seconds_of(loops));
        ioctl(counter, PERF_EVENT_IOC_DISABLE, 0);
    }
    struct live_event_times times = {0};
    if (!live_event_read(counter, &times) || !times.count)
        return -1;
    const double interrupts = (double)times.count / (double)period / TURNS;
    return fmax(LEAST_SECONDS, (with - without) / interrupts);
}

double interrupt_cost(bool timer) {
    /* Some ten thousand a second. */
    const struct live_event event = {.kind = timer ? LIVE_CPU_CLOCK : LIVE_CYCLES,
                                     .type = timer ? PERF_TYPE_SOFTWARE : PERF_TYPE_HARDWARE,
                                     .period = timer ? 100000 : 300000};
    struct perf_event_attr attributes;
    live_event_attributes(&event, &attributes);
    int counter = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (counter < 0)
        return -1;
    const double cost = compare(counter, event.period);
    close(counter);
    return cost;
}
