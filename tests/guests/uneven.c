/* Executes the same code all the time, which takes several times as long in some rounds as in
 * others: every other time a branch is taken, in turn or at random. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    const int rounds = argc > 1 ? atoi(argv[1]) : 200;
    unsigned x = 1, sum = 0, choice = 7;
    for (int round = 0; round < rounds; round++) {
        choice = choice * 1103515245 + 12345;
        const unsigned mask = choice >> 24 & 1;
        for (int i = 0; i < 30000; i++) {
            x = x * 1664525 + 1013904223;
            if (((x >> 30 & mask) | (i & ~mask)) & 1)
                __asm__ volatile("add $3, %0" : "+r"(sum));
            else
                __asm__ volatile("add $5, %0" : "+r"(sum));
        }
    }
    printf("%u\n", sum);
    return 0;
}
