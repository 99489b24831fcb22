/* Threads that wait for each other in every way that a test can foresee the outcome of, whatever
 * the order they run in: a waker tries until it has woken as many as there are. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint32_t first, second, never;

static long futex(uint32_t *word, int operation, uint32_t value, uint64_t limit, uint32_t *other,
                  uint32_t last) {
    return syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, limit, other, last);
}

static void *wait_first(void *argument) {
    (void)argument;
    while (futex(&first, FUTEX_WAIT, 0, 0, NULL, 0) < 0 && errno == EINTR)
        ;
    return NULL;
}

static void *wait_bits(void *argument) {
    (void)argument;
    while (futex(&first, FUTEX_WAIT_BITSET, 0, 0, NULL, 4) < 0 && errno == EINTR)
        ;
    return NULL;
}

/* A time limit that passes, a value that differs, a sleep, events of which there is none: for a
 * short time, and for none. */
static void *wait_alone(void *argument) {
    const struct timespec limit = {0, 3000000}, sleep = {0, 2000000};
    struct timespec brief = {0, 1000}, none = {0, 0};
    (void)argument;
    futex(&never, FUTEX_WAIT, 0, (uint64_t)(uintptr_t)&limit, NULL, 0);
    futex(&never, FUTEX_WAIT, 1, 0, NULL, 0);
    clock_nanosleep(CLOCK_MONOTONIC, 0, &sleep, NULL);
    syscall(SYS_ppoll, NULL, 0, &brief, NULL, 0);
    syscall(SYS_ppoll, NULL, 0, &none, NULL, 0);
    sched_yield();
    return NULL;
}

int main(void) {
    pthread_t threads[4];
    pthread_create(&threads[0], NULL, wait_alone, NULL);
    pthread_join(threads[0], NULL);
    pthread_create(&threads[0], NULL, wait_first, NULL);
    while (futex(&first, FUTEX_WAKE, 1, 0, NULL, 0) != 1)
        sched_yield();
    pthread_join(threads[0], NULL);
    pthread_create(&threads[1], NULL, wait_bits, NULL);
    while (futex(&first, FUTEX_WAKE_BITSET, 1, 0, NULL, 12) != 1)
        sched_yield();
    pthread_join(threads[1], NULL);
    pthread_create(&threads[2], NULL, wait_first, NULL);
    while (futex(&first, FUTEX_CMP_REQUEUE, 0, 1, &second, 0) != 1)
        sched_yield();
    while (futex(&second, FUTEX_WAKE, 1, 0, NULL, 0) != 1)
        sched_yield();
    pthread_join(threads[2], NULL);
    printf("%p %p %p\n", (void *)&first, (void *)&second, (void *)&never);
    return 0;
}
