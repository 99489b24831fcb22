/* The first thread runs a chain of ROUNDS times 24 multiplications and takes 1 from a count. The
 * second takes the last 1 from it, behind a pipe in the captured run, and then runs the chain, too.
 * With an argument both add to the count before they take from it, as users of something do: the
 * second adds before the first does ("users"), or between its two operations ("later"). */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 20000 };
static atomic_int count = 2, users;
static int ends[2], begun[2], added[2];
static bool later;

static bool tell(const int pipe[2]) {
    return write(pipe[1], "", 1) == 1;
}

static bool is_told(const int pipe[2]) {
    char byte;
    return read(pipe[0], &byte, 1) == 1;
}

static void chain(void) {
    unsigned long x = 3;
    for (int i = 0; i < ROUNDS; i++)
        __asm__ volatile(".rept 24\n imul %0, %0\n .endr" : "+r"(x));
}

static void *first(void *context) {
    chain();
    atomic_fetch_sub(&count, 1);
    return tell(ends) ? context : NULL;
}

static void *second(void *context) {
    if (is_told(ends) && atomic_fetch_sub(&count, 1) == 1)
        chain();
    return context;
}

static void *use_first(void *context) {
    if (!later && !is_told(added))
        return NULL;
    chain();
    atomic_fetch_add(&users, 1);
    if (later && !(tell(begun) && is_told(added)))
        return NULL;
    atomic_fetch_sub(&users, 1);
    return tell(ends) ? context : NULL;
}

static void *use_second(void *context) {
    if (later && !is_told(begun))
        return NULL;
    atomic_fetch_add(&users, 1);
    if (tell(added) && is_told(ends) && atomic_fetch_sub(&users, 1) == 1)
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
    if (pipe(ends) || pipe(begun) || pipe(added))
        return 1;
    later = argc > 1 && !strcmp(argv[1], "later");
    return argc > 1 ? both(use_first, use_second) : both(first, second);
}
