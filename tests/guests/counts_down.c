/* The first thread runs a chain of ROUNDS times 24 multiplications and takes 1 from a count. The
 * second takes the last 1 from it, behind a pipe in the captured run, and then runs the chain, too.
 * With an argument both add to the count before they take from it, as users of something do. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { ROUNDS = 20000 };
static atomic_int count = 2, users;
static int ends[2];

static void chain(void) {
    unsigned long x = 3;
    for (int i = 0; i < ROUNDS; i++)
        __asm__ volatile(".rept 24\n imul %0, %0\n .endr" : "+r"(x));
}

static void *first(void *context) {
    char byte = 0;
    chain();
    atomic_fetch_sub(&count, 1);
    return write(ends[1], &byte, 1) == 1 ? context : NULL;
}

static void *second(void *context) {
    char byte;
    if (read(ends[0], &byte, 1) == 1 && atomic_fetch_sub(&count, 1) == 1)
        chain();
    return context;
}

static void *use_first(void *context) {
    char byte = 0;
    chain();
    atomic_fetch_add(&users, 1);
    atomic_fetch_sub(&users, 1);
    return write(ends[1], &byte, 1) == 1 ? context : NULL;
}

static void *use_second(void *context) {
    char byte;
    atomic_fetch_add(&users, 1);
    if (read(ends[0], &byte, 1) == 1 && atomic_fetch_sub(&users, 1) == 1)
        chain();
    return context;
}

static int both(void *(*one)(void *), void *(*other)(void *)) {
    pthread_t threads[2];
    return pthread_create(&threads[0], NULL, one, NULL) ||
           pthread_create(&threads[1], NULL, other, NULL) || pthread_join(threads[0], NULL) ||
           pthread_join(threads[1], NULL);
}

int main(int argc, char **argv) {
    (void)argv;
    if (pipe(ends))
        return 1;
    return argc > 1 ? both(use_first, use_second) : both(first, second);
}
