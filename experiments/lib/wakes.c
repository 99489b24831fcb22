/* Prints µs from the wake of a thread that waits in a futex, on the other of two processors, to its
 * next instruction: half of a round in which two threads wake each other, the median of many. */
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/order.h"

enum { ROUNDS = 3001 };

static _Atomic uint32_t turn;

ORDER(compare, double, ascending(*a, *b))

static void wait_for(uint32_t mine) {
    while (atomic_load(&turn) != mine)
        syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, 1 - mine, NULL, NULL, 0);
}

static void give_to(uint32_t other) {
    atomic_store(&turn, other);
    syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* The n-th processor that may be used, for this thread alone. */
static void pin(int n) {
    cpu_set_t allowed, one;
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof allowed, &allowed))
        exit(1);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &allowed) && n-- == 0)
            CPU_SET(i, &one);
    if (sched_setaffinity(0, sizeof one, &one))
        exit(1);
}

static void *be_other(void *unused) {
    pin(1);
    for (int i = 0; i < ROUNDS; i++) {
        wait_for(1);
        give_to(0);
    }
    return unused;
}

int main(void) {
    static double seconds[ROUNDS];
    pthread_t other;
    if (pthread_create(&other, NULL, be_other, NULL))
        return 1;
    pin(0);
    for (int i = 0; i < ROUNDS; i++) {
        const double begin = clock_monotonic();
        give_to(1);
        wait_for(0);
        seconds[i] = (clock_monotonic() - begin) / 2;
    }
    pthread_join(other, NULL);
    qsort(seconds, ROUNDS, sizeof *seconds, compare);
    printf("%.2f\n", 1e6 * seconds[ROUNDS / 2]);
    return 0;
}
