/* threads N [shared]: starts and ends N threads, at most 8 at a time, which call work() and count;
 * shared: after it mapped memory that other processes could share. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long total;
static volatile unsigned long kept;
static void *volatile shared;

__attribute__((noinline)) unsigned long work(unsigned long seed) {
    for (int i = 0; i < 2000; i++)
        seed = seed * 6364136223846793005u + 1;
    return seed;
}

static void *thread(void *seed) {
    unsigned long result = work((unsigned long)seed);
    pthread_mutex_lock(&lock);
    kept = result;
    total++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : 100;
    pthread_t threads[8];
    if (argc > 2)
        shared = mmap(NULL, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    kept = work(0); /* has been translated before there are threads */
    for (int i = 0; i < count; i += 8) {
        int n = count - i < 8 ? count - i : 8;
        for (int k = 0; k < n; k++)
            pthread_create(&threads[k], NULL, thread, (void *)(long)(i + k));
        for (int k = 0; k < n; k++)
            pthread_join(threads[k], NULL);
    }
    printf("%lu threads\n", total);
    return 0;
}
