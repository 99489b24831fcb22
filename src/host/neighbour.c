#include "host/neighbour.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "util/array.h"
#include "util/clock.h"

#define INTERRUPTED 4

void host_neighbour_add(struct host_neighbour *neighbour, double seconds) {
    (void)array_push(neighbour->stretches, neighbour->capacity, neighbour->count, seconds);
}

double host_neighbour_slowdown(const struct host_neighbour *neighbour) {
    double least = INFINITY, sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < neighbour->count; i++)
        least = fmin(least, neighbour->stretches[i]);
    for (size_t i = 0; i < neighbour->count; i++)
        if (neighbour->stretches[i] <= INTERRUPTED * least) {
            sum += neighbour->stretches[i];
            count++;
        }
    return count && least > 0 ? sum / (double)count / least : NAN;
}

void host_neighbour_free(struct host_neighbour *neighbour) {
    free(neighbour->stretches);
    *neighbour = (struct host_neighbour){0};
}

#if defined __x86_64__

enum { STRETCHES = 100, ROUNDS = 100000 }; /* of seven additions, some 60 µs */

/* Of a register: some processors add constants while they rename. */
static void add_independently(uint64_t rounds) {
    __asm__ volatile("1: add %1, %%rax\n\t"
                     "add %1, %%rcx\n\t"
                     "add %1, %%rdx\n\t"
                     "add %1, %%rsi\n\t"
                     "add %1, %%rdi\n\t"
                     "add %1, %%r8\n\t"
                     "add %1, %%r9\n\t"
                     "dec %0\n\t"
                     "jnz 1b"
                     : "+r"(rounds)
                     : "r"(UINT64_C(1))
                     : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "cc");
}

void host_neighbour_look(struct host_neighbour *neighbour) {
    for (unsigned i = 0; i < STRETCHES; i++) {
        const int64_t before = clock_nanoseconds(CLOCK_MONOTONIC);
        add_independently(ROUNDS);
        host_neighbour_add(neighbour, 1e-9 * (double)(clock_nanoseconds(CLOCK_MONOTONIC) - before));
    }
}

#else

void host_neighbour_look(struct host_neighbour *neighbour) {
    (void)neighbour;
}

#endif
