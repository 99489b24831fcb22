/* sleepers N ROUNDS: N threads, a third of which works without a pause, a third sleeps after each
 * round of work, and a third does one round, then waits for the others. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int rounds;
static volatile unsigned long kept;
static pthread_mutex_t busy = PTHREAD_MUTEX_INITIALIZER; /* until the workers have ended */

static void work(void) {
    unsigned long value = 1;
    for (int i = 0; i < 300; i++)
        value = value * 6364136223846793005u + 1;
    kept = value;
}

static void *thread(void *number) {
    switch ((uintptr_t)number % 3) {
    case 0:
        for (int i = 0; i < rounds; i++)
            work();
        break;
    case 1:
        for (int i = 0; i < rounds / 100; i++) {
            work();
            usleep(10);
        }
        break;
    default:
        work();
        pthread_mutex_lock(&busy);
        pthread_mutex_unlock(&busy);
    }
    return NULL;
}

int main(int argc, char **argv) {
    unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : 12;
    pthread_t threads[64];
    rounds = argc > 2 ? atoi(argv[2]) : 1000;
    count = count > 64 ? 64 : count;
    pthread_mutex_lock(&busy);
    for (uintptr_t i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, thread, (void *)i);
    for (unsigned i = 0; i < count; i++)
        if (i % 3 < 2)
            pthread_join(threads[i], NULL);
    pthread_mutex_unlock(&busy);
    for (unsigned i = 0; i < count; i++)
        if (i % 3 == 2)
            pthread_join(threads[i], NULL);
    puts("done");
    return 0;
}
