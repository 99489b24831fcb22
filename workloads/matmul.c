/* matmul [SIZE] [REPEATS]: dense matrix multiplication, rows times rows.
 *
 * The inner loop adds a multiple of one row to another: streams in the L1, independent floating
 * point operations, perfectly predicted branches. Bound by the width of the machine: the time is
 * Computing. */
#include "workload.h"

kernel void multiply(double *restrict c, const double *restrict a, const double *restrict b,
                     uint64_t size) {
    for (uint64_t i = 0; i < size; i++)
        for (uint64_t k = 0; k < size; k++) {
            double factor = a[i * size + k];
            for (uint64_t j = 0; j < size; j++)
                c[i * size + j] += factor * b[k * size + j];
        }
}

int main(int count, char **arguments) {
    uint64_t size = argument(count, arguments, 1, 240, "rows and columns");
    uint64_t repeats = argument(count, arguments, 2, 2, "repeats");
    if (size > 1u << 14) {
        fprintf(stderr, "matmul: at most 16384 rows\n");
        return 2;
    }
    double *a = allocate(size * size, sizeof *a);
    double *b = allocate(size * size, sizeof *b);
    double *c = allocate(size * size, sizeof *c);
    for (uint64_t i = 0; i < size * size; i++) { /* small integers: every sum is exact */
        a[i] = (double)(i % 17);
        b[i] = (double)(i % 13) - 6;
    }
    for (uint64_t i = 0; i < repeats; i++)
        multiply(c, a, b, size);
    double sum = 0;
    for (uint64_t i = 0; i < size * size; i++)
        sum += c[i] * (double)(i % 3);
    printf("matmul %.0f\n", sum);
    free(a);
    free(b);
    free(c);
    return 0;
}
