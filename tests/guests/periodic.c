/* A thread that sleeps again and again until another is done, which waits for its end. */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

static atomic_int done;

static void *sleep_often(void *context) {
    const struct timespec time = {.tv_nsec = 2000000};
    do
        nanosleep(&time, NULL);
    while (!done);
    return context;
}

int main(void) {
    pthread_t thread;
    volatile long sum = 0;
    if (pthread_create(&thread, NULL, sleep_often, NULL))
        return 1;
    for (long i = 0; i < 300000; i++)
        sum = sum + i;
    done = 1;
    return pthread_join(thread, NULL);
}
