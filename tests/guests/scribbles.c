/* scribbles SEED: overwrites the memory that the capture shares with its process, at random. */
#include <stdint.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    volatile uint64_t *shared = (volatile uint64_t *)0x2e0000000000;
    uint64_t random = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    for (int i = 0; i < 20000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        /* the control page and the first process's records; sparing the word that says whether
         * anyone listens would need knowledge of the layout, so it is hit, too */
        uint64_t at = (random >> 33) % ((512 << 10) / 8);
        shared[at] = random & 1 ? random : random >> 60;
    }
    return 0;
}
