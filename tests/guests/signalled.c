/* A thread sends another a signal every two milliseconds, and tells in a word that it has, until
 * the other is done. The work is less than that, and many of them in the emulator. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

static pthread_t worker;
static atomic_int sent;
static volatile int done;

static void take(int signal) {
    (void)signal;
    atomic_exchange(&sent, 0);
}

static void *send_often(void *context) {
    const struct timespec time = {.tv_nsec = 2000000};
    do {
        nanosleep(&time, NULL);
        atomic_exchange(&sent, 1);
        pthread_kill(worker, SIGUSR1);
    } while (!done);
    return context;
}

int main(void) {
    const struct sigaction action = {.sa_handler = take};
    pthread_t thread;
    volatile long sum = 0;
    worker = pthread_self();
    if (sigaction(SIGUSR1, &action, NULL) || pthread_create(&thread, NULL, send_often, NULL))
        return 1;
    for (long i = 0; i < 300000; i++)
        sum = sum + i;
    done = 1;
    return pthread_join(thread, NULL);
}
