/* Draws random bytes in every possible way, and executes more instructions the larger they are. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/uio.h>
#include <unistd.h>

static volatile unsigned steps;

static void spend(const unsigned char *bytes, long count) {
    for (long i = 0; i < count; i++)
        for (unsigned k = 0; k < bytes[i]; k++)
            steps++;
}

int main(void) {
    unsigned char bytes[40], more[24];
    struct iovec parts[] = {{bytes, 10}, {NULL, 0}, {more, sizeof more}};
    int urandom = open("/dev/urandom", O_RDONLY), again = dup(urandom);
    FILE *random = fopen("/dev/random", "r");
    if (again < 0 || !random)
        return 1;
    spend(bytes, getrandom(bytes, sizeof bytes, 0));
    spend(bytes, read(again, bytes, 33));
    spend(bytes, pread(urandom, bytes, 17, 0));
    if (readv(urandom, parts, 3) != 34)
        return 1;
    spend(bytes, 10);
    spend(more, sizeof more);
    spend(bytes, (long)fread(bytes, 1, 5, random));
    return 0;
}
