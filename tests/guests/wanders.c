/* Behaves differently in every run: how much work it does, and in which of two ways, is random. */
#include <stdio.h>
#include <sys/random.h>

int main(void) {
    unsigned char bits;
    volatile unsigned sum = 0;
    for (int round = 0; round < 20; round++) {
        if (getrandom(&bits, 1, 0) != 1)
            return 1;
        unsigned steps = 2500 + 125u * bits;
        if (bits & 1)
            for (unsigned i = 0; i < steps; i++)
                sum += i * i;
        else
            for (unsigned i = 0; i < 3 * steps; i++)
                sum ^= i >> 3;
    }
    printf("%u\n", sum);
    return 0;
}
