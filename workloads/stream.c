/* stream [SWEEPS] [ELEMENTS]: McCalpin's four kernels, copy, scale, add and triad.
 *
 * Two or three sequential streams of doubles through arrays larger than any cache: bandwidth bound,
 * and a hardware prefetcher covers all of it. */
#include "workload.h"

kernel void copy(double *to, const double *from, uint64_t count) {
    for (uint64_t i = 0; i < count; i++)
        to[i] = from[i];
}

kernel void scale(double *to, const double *from, double factor, uint64_t count) {
    for (uint64_t i = 0; i < count; i++)
        to[i] = factor * from[i];
}

kernel void add(double *to, const double *a, const double *b, uint64_t count) {
    for (uint64_t i = 0; i < count; i++)
        to[i] = a[i] + b[i];
}

kernel void triad(double *to, const double *a, const double *b, double factor, uint64_t count) {
    for (uint64_t i = 0; i < count; i++)
        to[i] = a[i] + factor * b[i];
}

int main(int count, char **arguments) {
    uint64_t sweeps = argument(count, arguments, 1, 3, "sweeps");
    uint64_t size = argument(count, arguments, 2, 2000000, "elements of each array");
    double *a = allocate(size, sizeof *a);
    double *b = allocate(size, sizeof *b);
    double *c = allocate(size, sizeof *c);
    for (uint64_t i = 0; i < size; i++)
        a[i] = (double)(i % 1024);
    for (uint64_t sweep = 0; sweep < sweeps; sweep++) {
        copy(c, a, size);
        scale(b, c, 0.5, size);
        add(c, a, b, size);
        triad(a, b, c, 0.25, size);
    }
    double sum = 0;
    for (uint64_t i = 0; i < size; i++)
        sum += a[i];
    printf("stream %.9e\n", sum);
    free(a);
    free(b);
    free(c);
    return 0;
}
