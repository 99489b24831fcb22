/* stlf [ITERATIONS]: values that go through memory, from a store straight to a load.
 *
 * A counter and a running sum live in memory (volatile): each iteration's load takes the value of
 * the store of the iteration before, which is still in the store queue. The loop runs at the
 * latency of store-to-load forwarding; no access misses. */
#include "workload.h"

static volatile uint64_t cell[2];

kernel uint64_t through_memory(uint64_t iterations) {
    while (iterations--) {
        cell[0] = cell[0] + 3;
        cell[1] = cell[1] ^ cell[0];
    }
    return cell[1];
}

int main(int count, char **arguments) {
    uint64_t iterations = argument(count, arguments, 1, 15000000, "iterations");
    printf("stlf %" PRIu64 "\n", through_memory(iterations));
    return 0;
}
