/* parts [ITERATIONS]: words that are written byte by byte and read whole (failed forwarding).
 *
 * Each iteration changes one byte of a word in memory and then reads the word. The store holds only
 * a part of what the load reads, so it cannot forward: the load waits until the store has committed
 * and is in the cache, and the next byte is made of what it read. No access misses. */
#include "workload.h"

static volatile union {
    uint8_t bytes[8];
    uint64_t word;
} cell;

kernel uint64_t read_whole(uint64_t iterations) {
    uint64_t sum = 0;
    while (iterations--) {
        cell.bytes[iterations % 8] = (uint8_t)(sum + 1);
        sum += cell.word;
    }
    return sum;
}

int main(int count, char **arguments) {
    uint64_t iterations = argument(count, arguments, 1, 5000000, "iterations");
    printf("parts %" PRIu64 "\n", read_whole(iterations));
    return 0;
}
