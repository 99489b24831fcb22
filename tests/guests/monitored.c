/* A worker tells how far it is in a plain word. A monitor looks at it between sleeps, until all is
 * done, and does some work of its own each time. Tells how often it slept. */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

enum { ROUNDS = 300, OWN_WORK = 2000 };
static volatile int progress;
static int sleeps;

static void *monitor(void *context) {
    const struct timespec time = {.tv_nsec = 2000000};
    volatile long sum = 0;
    while (progress < ROUNDS) {
        nanosleep(&time, NULL);
        sleeps++;
        for (int i = 0; i < OWN_WORK; i++)
            sum = sum + i;
    }
    return context;
}

int main(void) {
    pthread_t thread;
    volatile long sum = 0;
    if (pthread_create(&thread, NULL, monitor, NULL))
        return 1;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < 1000; i++)
            sum = sum + i;
        progress = round + 1;
    }
    if (pthread_join(thread, NULL))
        return 1;
    printf("%d\n", sleeps);
}
