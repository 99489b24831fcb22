/* How many lines the last cache still has after others were read from memory, or after a wait.
 *
 * 2 MiB of lines are loaded four times in random order, each time pushed out of the L2 by others;
 * then so many megabytes of other lines are read, and nothing is done until the wait is over; then
 * an eighth of the lines is loaded once more, each timed between fences. Prints a line for each
 * number of megabytes: it, million cycles that it took, per cent of the lines that were near with
 * no wait, and with one of WAIT_CYCLES in all: the best of TRIES, which others disturb least. */
#include "cycles.h"

#include <stdio.h>
#include <x86intrin.h>

enum { LINE = 64, LINES = 1 << 15, OTHERS = 1 << 20, STREAMED = 256 << 20, TRIES = 15, LOADS = 4 };
enum { CASES = 11, TIMED = 8, ADDITIONS = 10000, UNITS = 2000, SAMPLE = 1024 };
static const unsigned MEGABYTES[CASES] = {0, 2, 4, 8, 12, 16, 20, 24, 28, 32, 40};
static const double WAIT_CYCLES = 6.5e6;
static char *lines, *others, *streamed;
static unsigned order[LINES];
static size_t at;
static unsigned long seed = 1;

static unsigned drawn(void) {
    seed = seed * 6364136223846793005ul + 1442695040888963407ul;
    return (unsigned)(seed >> 33);
}
static void load(const char *place) {
    (void)*(const volatile char *)place;
}
static double timed(const char *place) {
    _mm_lfence();
    const unsigned long begin = __rdtsc();
    _mm_lfence();
    load(place);
    _mm_lfence();
    return (double)(__rdtsc() - begin);
}
static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
static double median(double *values, unsigned count) {
    qsort(values, count, sizeof *values, compare);
    return values[count / 2];
}
static double best(double *values, unsigned count) {
    qsort(values, count, sizeof *values, compare);
    return values[count - 1];
}
/* Ticks of a cycle. */
static double tick(void) {
    unsigned long least = ~0ul;
    for (unsigned i = 0; i < UNITS; i++) {
        const unsigned long begin = __rdtsc();
        additions(ADDITIONS);
        const unsigned long took = __rdtsc() - begin;
        least = took < least ? took : least;
    }
    return (double)least / ADDITIONS;
}
/* Below, a line comes from a cache. */
static double border(void) {
    double far[SAMPLE];
    for (unsigned i = 0; i < SAMPLE; i++)
        _mm_clflush(lines + (size_t)order[i] * LINE);
    _mm_mfence();
    for (unsigned i = 0; i < SAMPLE; i++)
        far[i] = timed(lines + (size_t)order[i] * LINE);
    return 0.6 * median(far, SAMPLE);
}
static void prepare(void) {
    for (unsigned i = LINES - 1; i > 0; i--) {
        const unsigned j = drawn() % (i + 1), other = order[i];
        order[i] = order[j];
        order[j] = other;
    }
    for (unsigned loads = 0; loads < LOADS; loads++) {
        for (unsigned i = 0; i < LINES; i++)
            load(lines + (size_t)order[i] * LINE);
        for (size_t i = 0; i < 2 * OTHERS; i += LINE)
            load(others + i % OTHERS);
    }
}
/* Per cent of the lines; *took in ticks. */
static double kept(size_t bytes, double wait, double far, double *took) {
    unsigned near = 0, all = 0;
    prepare();
    const unsigned long begin = __rdtsc();
    for (size_t i = 0; i < bytes; i += LINE, at = (at + LINE) % STREAMED)
        load(streamed + at);
    while ((double)(__rdtsc() - begin) < wait)
        _mm_pause();
    *took = (double)(__rdtsc() - begin);
    for (unsigned i = 0; i < LINES; i++)
        if (drawn() % TIMED == 0) {
            near += timed(lines + (size_t)order[i] * LINE) < far;
            all++;
        }
    return 100.0 * near / all;
}

int main(void) {
    static double at_once[CASES][TRIES], later[CASES][TRIES], took[CASES][TRIES];
    double ignored;
    lines = pages((size_t)LINES * LINE, MADV_HUGEPAGE);
    others = pages(OTHERS, MADV_HUGEPAGE);
    streamed = pages(STREAMED, MADV_HUGEPAGE);
    for (unsigned i = 0; i < LINES; i++)
        order[i] = i;
    prepare();
    const double ticks = tick(), far = border();
    for (unsigned try = 0; try < TRIES; try++)
        for (unsigned i = 0; i < CASES; i++) {
            const size_t bytes = (size_t)MEGABYTES[i] << 20;
            at_once[i][try] = kept(bytes, 0, far, &took[i][try]);
            later[i][try] = kept(bytes, WAIT_CYCLES * ticks, far, &ignored);
        }
    for (unsigned i = 0; i < CASES; i++)
        printf("%u %.1f %.0f %.0f\n", MEGABYTES[i], median(took[i], TRIES) / ticks / 1e6,
               best(at_once[i], TRIES), best(later[i], TRIES));
    return 0;
}
