/* turns N ROUNDS: N threads take turns, in a ring: each goes through a loop 10,000 times, then lets
 * the next one go on and waits. */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>

enum { MAX = 16, ITERATIONS = 10000 };

static sem_t turns[MAX];
static unsigned count, rounds;
static volatile unsigned long kept;

__attribute__((noinline)) static unsigned long work(unsigned long value) {
    for (int i = 0; i < ITERATIONS; i++) {
        value = value * 31 + 7;
        __asm__ volatile("" : "+r"(value));
    }
    return value;
}

static void *thread(void *number) {
    unsigned self = (unsigned)(uintptr_t)number;
    for (unsigned i = 0; i < rounds; i++) {
        sem_wait(&turns[self]);
        kept = work(kept);
        sem_post(&turns[(self + 1) % count]);
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[MAX];
    count = argc > 1 ? (unsigned)atoi(argv[1]) : 4;
    rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 100;
    count = count < 1 ? 1 : count > MAX ? MAX : count;
    for (unsigned i = 0; i < count; i++)
        sem_init(&turns[i], 0, i == 0);
    for (uintptr_t i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, thread, (void *)i);
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
