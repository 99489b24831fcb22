/* In one round of many, takes another path if its standard output is not the file named: the first
 * run of a command writes to that file, a second one does not. */
#include <sys/stat.h>

enum { ROUNDS = 32, DETOUR = 16 };

static volatile unsigned sum;

static __attribute__((noinline)) void usual(void) {
    for (unsigned i = 0; i < 130000; i++)
        sum += i;
}
static __attribute__((noinline)) void straight(void) {
    for (unsigned i = 0; i < 70000; i++)
        sum ^= i >> 1;
}
static __attribute__((noinline)) void detour(void) {
    for (unsigned i = 0; i < 70000; i++)
        sum -= i * 3;
}

int main(int argc, char **argv) {
    struct stat named, output;
    int first = argc > 1 && stat(argv[1], &named) == 0 && fstat(1, &output) == 0 &&
                named.st_ino == output.st_ino && named.st_dev == output.st_dev;
    for (int round = 0; round < ROUNDS; round++)
        if (round != DETOUR)
            usual();
        else if (first)
            straight();
        else
            detour();
    return 0;
}
