/* ordering [ITERATIONS]: loads that pass a store to the same address (memory ordering violations).
 *
 * The address of each store comes out of a chain of multiplications and is known late; the load
 * that follows knows its own at once, and in one iteration of four, at random, it is the same. A
 * core that lets loads pass stores of unknown address must flush and fetch again (FL-MO). */
#include "workload.h"

enum { CELLS = 256 };

static uint64_t cells[CELLS];

/* Returns `index`, after four dependent multiplications by odd numbers and their inverse. */
static inline uint64_t late(uint64_t index) {
    uint64_t x = index;
    x *= 0x9e3779b97f4a7c15;
    __asm__("" : "+r"(x));
    x *= 0xf1de83e19937733d; /* inverse modulo 2^64 of the first */
    __asm__("" : "+r"(x));
    x *= 0x9e3779b97f4a7c15;
    __asm__("" : "+r"(x));
    x *= 0xf1de83e19937733d;
    return x;
}

kernel uint64_t store_then_load(uint64_t iterations) {
    uint64_t seed = 987654321, sum = 0;
    while (iterations--) {
        uint64_t random = random_next(&seed) >> 40;
        uint64_t from = random % CELLS;
        uint64_t to = (random >> 8) % 4 == 0 ? from : (from + 128) % CELLS;
        cells[late(to)] = random;
        sum += cells[from];
    }
    return sum;
}

int main(int count, char **arguments) {
    uint64_t iterations = argument(count, arguments, 1, 5000000, "iterations");
    printf("ordering %" PRIu64 "\n", store_then_load(iterations));
    return 0;
}
