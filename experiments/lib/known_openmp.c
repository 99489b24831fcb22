/* As known.c, with OpenMP: known_openmp CASE ROUNDS. */
#include <stdlib.h>
#include <string.h>

static __attribute__((noinline)) void chain(long times) {
    unsigned long x = 3;
    for (long i = 0; i < times; i++)
        __asm__ volatile(".rept 24\n imul %0, %0\n .endr" : "+r"(x));
}

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    const long part = atol(argv[2]) / 10;
    for (int round = 0; round < 5; round++) {
        if (!strcmp(argv[1], "openmp-sections")) {
#pragma omp parallel sections num_threads(2)
            {
#pragma omp section
                chain(part);
#pragma omp section
                chain(part / 4);
            }
        } else if (!strcmp(argv[1], "openmp-for")) {
#pragma omp parallel for num_threads(2) schedule(static)
            for (int i = 0; i < 2; i++)
                chain(i ? part / 4 : part);
        } else {
#pragma omp parallel num_threads(2)
#pragma omp critical
            chain(part / 2);
        }
        chain(part);
    }
    return 0;
}
