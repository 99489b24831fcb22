/* dependent [STEPS]: a chain of multiplications and additions, each of which needs the one before.
 *
 * Nothing misses, no branch is mispredicted and no unit is short: the time is the latency of the
 * chain, a multiplication and an addition a step, however wide the machine. */
#include "workload.h"

kernel uint64_t chain(uint64_t x, uint64_t steps) {
    while (steps--)
        x = x * 0x5851f42d4c957f2d + 0x14057b7ef767814f;
    return x;
}

int main(int count, char **arguments) {
    const uint64_t steps = argument(count, arguments, 1, 30000000, "steps");
    printf("dependent %" PRIu64 "\n", chain(steps, steps));
    return 0;
}
