/* Works, then makes a file, then works again: argv[1] the file, argv[2] rounds. */
#include <stdio.h>
#include <stdlib.h>

static unsigned work(unsigned rounds, unsigned seed) {
    for (unsigned i = 0; i < rounds; i++)
        seed = seed * 1664525 + 1013904223 + (seed >> 16) % 7;
    return seed;
}

int main(int argc, char **argv) {
    if (argc < 3)
        return 1;
    unsigned rounds = (unsigned)atoi(argv[2]), seed = work(rounds, 1);
    FILE *file = fopen(argv[1], "a");
    if (!file)
        return 1;
    fprintf(file, "%u\n", seed);
    fclose(file);
    return work(rounds, seed) == 0;
}
