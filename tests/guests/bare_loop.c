/* A loop of calls and two writes. */
#include "bare.h"

static volatile uint64_t memory[64];

static __attribute__((noinline)) uint64_t mix(uint64_t x) {
    return x * 6364136223846793005u + 1442695040888963407u;
}

void run(void) {
    uint64_t x = 1;
    call3(SYS_WRITE, 1, (long)"begin\n", 6);
    for (int i = 0; i < 1000; i++) {
        x = mix(x);
        memory[x >> 58] += x;
        if (x & 1)
            memory[0]++;
    }
    call3(SYS_WRITE, 1, (long)"end\n", 4);
    leave(7);
}
