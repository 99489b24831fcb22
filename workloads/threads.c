/* threads [ITERATIONS] [THREADS]: several threads, with private work and a shared lock.
 *
 * Each thread mixes an array of its own and every thousand iterations adds to a shared sum under a
 * mutex. The result does not depend on the order in which threads run. */
#include <pthread.h>

#include "workload.h"

enum { MOST_THREADS = 64, PRIVATE = 2048, PERIOD = 1000 };

struct worker {
    pthread_t thread;
    uint64_t number, iterations;
    uint64_t items[PRIVATE];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t shared;

kernel void *work(void *argument) {
    struct worker *worker = argument;
    uint64_t seed = worker->number * 2 + 1, own = 0;
    for (uint64_t i = 1; i <= worker->iterations; i++) {
        uint64_t at = random_next(&seed) >> 53;
        own += worker->items[at] += i;
        if (i % PERIOD == 0 || i == worker->iterations) {
            pthread_mutex_lock(&lock);
            shared += own;
            pthread_mutex_unlock(&lock);
            own = 0;
        }
    }
    return NULL;
}

int main(int count, char **arguments) {
    uint64_t iterations = argument(count, arguments, 1, 2500000, "iterations of each thread");
    uint64_t threads = argument(count, arguments, 2, 4, "threads");
    if (threads > MOST_THREADS) {
        fprintf(stderr, "threads: at most %d\n", MOST_THREADS);
        return 2;
    }
    struct worker *workers = allocate(threads, sizeof *workers);
    for (uint64_t i = 0; i < threads; i++) {
        workers[i].number = i;
        workers[i].iterations = iterations;
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i])) {
            fprintf(stderr, "threads: cannot start thread %" PRIu64 "\n", i);
            return 1;
        }
    }
    for (uint64_t i = 0; i < threads; i++)
        pthread_join(workers[i].thread, NULL);
    printf("threads %" PRIu64 "\n", shared);
    free(workers);
    return 0;
}
