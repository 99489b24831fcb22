/* A thread that sleeps again and again, so often as the argument says, or else until another is
 * done, which waits for its end. The flag is a plain word, and the sleep is a call. Tells how often
 * it slept. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile int done;
static int times, slept;

static void *sleep_often(void *context) {
    const struct timespec time = {.tv_nsec = 2000000};
    do
        nanosleep(&time, NULL);
    while (++slept < times || (!times && !done));
    return context;
}

int main(int count, char **arguments) {
    pthread_t thread;
    volatile long sum = 0;
    times = count > 1 ? atoi(arguments[1]) : 0;
    if (pthread_create(&thread, NULL, sleep_often, NULL))
        return 1;
    for (long i = 0; i < 300000; i++)
        sum = sum + i;
    done = 1;
    if (pthread_join(thread, NULL))
        return 1;
    printf("%d\n", slept);
}
