#include "host/clock.h"

#include <assert.h>
#include <math.h>

#include "util/clock.h"

/* Two chains of a repetition that differ by more do not count. Of medians whose interval is wider
 * than CLOCK_DOUBT of them, or four times what a kernel wants, nothing is said. */
static const double CLOCK_AGREEMENT = 0.01, CLOCK_DOUBT = 0.05;

/* Ticks that a run takes at least: some 2 µs, so that the counter's steps are a few thousandths of
 * it at most, and interrupts, which load makes frequent, meet few runs. Many repetitions do the
 * rest: with ten times as long runs nearly nothing could be measured beside a load of 20. */
enum { RUN_TICKS = 5000, CHAIN_ROUNDS = 50 };

/* By insertion: qsort() may ask the system how much memory there is, which the child may not. */
static void sort(double *samples, unsigned count) {
    for (unsigned i = 1; i < count; i++) {
        const double sample = samples[i];
        unsigned to = i;
        for (; to && samples[to - 1] > sample; to--)
            samples[to] = samples[to - 1];
        samples[to] = sample;
    }
}

/* Order statistics: the median lies between the samples of rank (n ± 1.96 √n) / 2. */
double clock_median(double *samples, unsigned count, double *spread) {
    assert(count > 0);
    sort(samples, count);
    const double half = 0.98 * sqrt(count), middle = (count - 1) / 2.0;
    const int low = (int)floor(middle - half), high = (int)ceil(middle + half);
    *spread = low < 0 ? INFINITY : (samples[high] - samples[low]) / 2;
    return (samples[(count - 1) / 2] + samples[count / 2]) / 2;
}

#if defined __x86_64__

#include <x86intrin.h>

/* Ticks of `run(iterations)`. *processor becomes −1 when it was not the same all the time. */
static uint64_t ticks(void (*run)(uint64_t), uint64_t iterations, int64_t *processor) {
    unsigned before, after;
    _mm_lfence();
    const uint64_t begin = __rdtscp(&before);
    _mm_lfence();
    run(iterations);
    _mm_lfence();
    const uint64_t end = __rdtscp(&after);
    _mm_lfence();
    if (before != after || (*processor >= 0 && *processor != before))
        *processor = -1;
    return end - begin;
}

#define ADD_10                                                                                     \
    "add %1, %0\nadd %1, %0\nadd %1, %0\nadd %1, %0\nadd %1, %0\n"                                 \
    "add %1, %0\nadd %1, %0\nadd %1, %0\nadd %1, %0\nadd %1, %0\n"

/* Registers, not constants, are added: some processors add those while they rename. */
void clock_chain(uint64_t rounds) {
    uint64_t sum = 0, one = 1;
    for (; rounds; rounds--)
        __asm__ volatile(ADD_10 ADD_10 ADD_10 ADD_10 ADD_10 ADD_10 ADD_10 ADD_10 ADD_10 ADD_10
                         : "+r"(sum)
                         : "r"(one));
}

double clock_unit(int64_t *processor) {
    const uint64_t once = ticks(clock_chain, CHAIN_ROUNDS, processor);
    const uint64_t twice = ticks(clock_chain, 2 * CHAIN_ROUNDS, processor);
    return ((double)twice - (double)once) / ((double)CHAIN_ROUNDS * CLOCK_CHAIN_ADDS);
}

bool clock_agrees(double before, double after) {
    const double mean = (before + after) / 2;
    return mean > 0 && fabs(before - after) < CLOCK_AGREEMENT * mean;
}

/* Iterations that take long enough; the kernel is warm behind this. */
static uint64_t enough_iterations(const struct host_placed *placed, double until) {
    const struct host_kernel *kernel = placed->kernel;
    uint64_t iterations = kernel->iterations;
    int64_t processor = -1;
    placed->run(kernel->warm ? kernel->warm : iterations);
    while (ticks(placed->run, iterations, &processor) < RUN_TICKS && clock_processor() < until)
        iterations *= 2;
    return iterations;
}

/* Whether it is time to end. The question is a system call, whose lines take the place of the
 * kernel's in the caches: it is asked once in so many repetitions, so that the median is that of
 * those that it does not disturb. */
enum { ASKED_EVERY = 8 };
static bool out_of_time(unsigned repetitions, double until) {
    return repetitions % ASKED_EVERY == 0 && clock_processor() > until;
}

/* One repetition; false: it does not count. */
static bool repeat(const struct host_placed *placed, uint64_t iterations, double *cycles) {
    unsigned here;
    __rdtscp(&here);
    int64_t processor = here;
    const double before = clock_unit(&processor);
    const uint64_t once = ticks(placed->run, iterations, &processor);
    const uint64_t twice = ticks(placed->run, 2 * iterations, &processor);
    const double after = clock_unit(&processor), mean = (before + after) / 2;
    *cycles = ((double)twice - (double)once) / (double)iterations / mean;
    return processor >= 0 && clock_agrees(before, after);
}

void clock_measure(void *context, const struct host_placed *placed, struct host_result *result) {
    const struct clock_effort *effort = context;
    const bool rough = placed->kernel->precision > 0;
    const double until = clock_processor() + effort->seconds / (rough ? 4 : 1);
    const double doubt = fmax(CLOCK_DOUBT, 4 * placed->kernel->precision);
    const double precision = fmax(effort->precision, placed->kernel->precision);
    const uint64_t iterations = enough_iterations(placed, until);
    double samples[CLOCK_MOST], spread = INFINITY, median = NAN;
    unsigned count = 0;
    for (unsigned repetitions = 1; count < effort->most; repetitions++) {
        const bool counts = repeat(placed, iterations, &samples[count]);
        count += counts;
        if (out_of_time(repetitions, until))
            break;
        if (!counts || count < effort->least || count % 8)
            continue;
        median = clock_median(samples, count, &spread);
        if (spread <= precision * fabs(median))
            break;
    }
    if (count)
        median = clock_median(samples, count, &spread);
    result->cycles = median;
    result->spread = spread;
    result->state = spread <= fmax(doubt * fabs(median), 0.02) ? HOST_MEASURED : HOST_UNSTABLE;
}

#endif
