/* clocks CLOCK CALLS: reads that clock so many times. */
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv) {
    struct timespec now;
    long sum = 0;
    if (argc < 3)
        return 2;
    for (long i = atol(argv[2]); i > 0; i--) {
        if (clock_gettime(atoi(argv[1]), &now) != 0)
            return 1;
        sum += now.tv_nsec;
    }
    return sum == 1;
}
