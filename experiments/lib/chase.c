/* chase: the latency of dependent loads of lines in random order, for each of some sizes: a line of
 * MiB and cycles of dependent additions, the least of several passes. Pages are huge where they can
 * be had, so that caches are seen rather than TLBs. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "host/frequency.h"
#include "util/clock.h"

enum { LINE = 64, HUGE_PAGE = 2 << 20, STEPS = 100000, PASSES = 9 };

static uint64_t state = 88172645463325252;

/* Marsaglia's xorshift. */
static uint64_t next(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Sattolo's cycle: each line holds the address of the next. */
static void link_lines(char *memory, uint64_t lines) {
    uint32_t *order = malloc(lines * sizeof *order);
    for (uint32_t i = 0; i < lines; i++)
        order[i] = i;
    for (uint32_t i = (uint32_t)lines - 1; i; i--) {
        const uint32_t other = (uint32_t)(next() % i), item = order[i];
        order[i] = order[other];
        order[other] = item;
    }
    for (uint64_t i = 0; i < lines; i++)
        *(char **)(memory + order[i] * (uint64_t)LINE) =
            memory + order[(i + 1) % lines] * (uint64_t)LINE;
    free(order);
}

/* Nanoseconds of a load. */
static double least(char *at) {
    double found = 1e9;
    for (int pass = 0; pass < PASSES; pass++) {
        const int64_t before = clock_nanoseconds(CLOCK_MONOTONIC);
        for (int i = 0; i < STEPS; i++) {
            at = *(char **)at;
            __asm__ volatile("" : "+r"(at));
        }
        const double each = (double)(clock_nanoseconds(CLOCK_MONOTONIC) - before) / STEPS;
        found = each < found ? each : found;
    }
    return found;
}

int main(void) {
    static const unsigned SIZES[] = {2, 3, 4, 6, 8, 12, 16, 24, 32, 96};
    const size_t most = (size_t)96 << 20;
    struct error error;
    double frequency;
    char *all =
        mmap(NULL, most + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED)
        return 1;
    char *memory = all + (HUGE_PAGE - (uintptr_t)all % HUGE_PAGE) % HUGE_PAGE;
    madvise(memory, most, MADV_HUGEPAGE);
    memset(memory, 0, most);
    for (unsigned i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
        link_lines(memory, ((uint64_t)SIZES[i] << 20) / LINE);
        const double each = least(memory);
        if (!host_frequency(&frequency, &error))
            return 1;
        printf("%u %.1f\n", SIZES[i], each * 1e-9 * frequency);
    }
    return 0;
}
