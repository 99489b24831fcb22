/* Four threads allocate, change and free blocks of all kinds, and the program prints each block in
 * hexadecimal, with its size: "a ADDRESS SIZE", or "f ADDRESS" when it was freed. */
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, TURNS = 250, SIZE_MOST = 700 };

static struct told {
    char what;
    void *block;
    size_t size;
} told[THREADS][2 * TURNS];
static int counts[THREADS];

static void tell(long thread, char what, void *block, size_t size) {
    told[thread][counts[thread]++] = (struct told){what, block, size};
}

static void *work(void *argument) {
    const long thread = (long)argument;
    uint64_t random = 88172645463325252u + (uint64_t)thread * 7919;
    void *last = NULL;
    for (int i = 0; i < TURNS; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const size_t size = (random >> 40) % SIZE_MOST + 1;
        void *block = NULL;
        switch (random >> 60 & 7) {
        case 0:
            block = calloc(size, 3);
            tell(thread, 'a', block, 3 * size);
            break;
        case 1:
            if (!posix_memalign(&block, 64, size))
                tell(thread, 'a', block, size);
            break;
        case 2:
            block = memalign(32, size);
            tell(thread, 'a', block, size);
            break;
        case 3:
            if (last)
                tell(thread, 'f', last, 0);
            block = realloc(last, 2 * size);
            tell(thread, 'a', block, 2 * size);
            break;
        case 4:
            if (last)
                tell(thread, 'f', last, 0);
            free(last);
            break;
        default:
            block = malloc(size);
            tell(thread, 'a', block, size);
        }
        last = block;
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        for (int k = 0; k < counts[i]; k++)
            printf("%c %lx %zx\n", told[i][k].what, (unsigned long)told[i][k].block,
                   told[i][k].size);
    return 0;
}
