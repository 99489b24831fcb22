/* ceil [ELEMENTS]: rounding by the C library, as imagick of SPEC CPU2017.
 *
 * The loop calls ceil() and floor() of libm on an array in the L1. On riscv64 glibc saves and
 * restores the floating point flags around the conversion (frflags, fsflags), and these two
 * instructions flush the pipeline of a BOOM core: they carry most of the time (FL-EX; TIP paper,
 * §6). On x86-64 they are plain calls, and the time is Computing. */
#include <math.h>

#include "workload.h"

enum { SIZE = 1024 };

kernel double round_both_ways(const double *items, uint64_t count) {
    double sum = 0;
    for (uint64_t i = 0; i < count; i++) {
        double item = items[i % SIZE];
        sum += ceil(item) - floor(item * 0.5);
    }
    return sum;
}

int main(int count, char **arguments) {
    uint64_t elements = argument(count, arguments, 1, 6000000, "elements");
    static double items[SIZE];
    const int negative = SIZE / 3;
    for (int i = 0; i < SIZE; i++)
        items[i] = (i - negative) * 0.37;
    printf("ceil %.0f\n", round_both_ways(items, elements));
    return 0;
}
