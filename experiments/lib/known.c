/* Programs with threads whose time follows from arithmetic: known CASE ROUNDS. A whole chain is
 * ROUNDS times 24 multiplications, each of which needs the one before; parts of it are tenths or
 * so. What each case takes, in whole chains, is in threads-known.py. */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TIMES = 10, PLACES = 4 };
static long rounds;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, own = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t pair[2] __attribute__((aligned(64))); /* a line has both */
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER, space = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_spinlock_t spin;
static pthread_rwlock_t read_write = PTHREAD_RWLOCK_INITIALIZER;
static sem_t here, there;
static int count, arrived, generation, slots[PLACES], first_slot, used;
static atomic_int left = 2, flag;

static __attribute__((noinline)) void chain(long times) {
    unsigned long x = 3;
    for (long i = 0; i < times; i++)
        __asm__ volatile(".rept 24\n imul %0, %0\n .endr" : "+r"(x));
}

static void locked(long within, long outside) {
    for (int i = 0; i < TIMES; i++) {
        pthread_mutex_lock(&mutex);
        chain(within);
        pthread_mutex_unlock(&mutex);
        chain(outside);
    }
}

static void meet(void) {
    pthread_mutex_lock(&mutex);
    const int before = generation;
    if (++arrived == 2) {
        arrived = 0;
        generation++;
        pthread_cond_broadcast(&condition);
    } else {
        while (generation == before)
            pthread_cond_wait(&condition, &mutex);
    }
    pthread_mutex_unlock(&mutex);
}

static void done(void) {
    pthread_mutex_lock(&mutex);
    if (++count == 2)
        pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
}

static void put(int item) {
    pthread_mutex_lock(&mutex);
    while (used == PLACES)
        pthread_cond_wait(&space, &mutex);
    slots[(first_slot + used++) % PLACES] = item;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
}

static int take(void) {
    pthread_mutex_lock(&mutex);
    while (!used)
        pthread_cond_wait(&condition, &mutex);
    const int item = slots[first_slot];
    first_slot = (first_slot + 1) % PLACES;
    used--;
    pthread_cond_signal(&space);
    pthread_mutex_unlock(&mutex);
    return item;
}

/* What the two threads do, number 0 and 1. */
static void mutual_exclusion(int number) {
    (void)number;
    locked(rounds / TIMES, 0);
}
static void half_locked(int number) {
    (void)number;
    locked(rounds / TIMES / 2, rounds / TIMES / 2);
}
static void spin_lock(int number) {
    (void)number;
    for (int i = 0; i < TIMES; i++) {
        pthread_spin_lock(&spin);
        chain(rounds / TIMES);
        pthread_spin_unlock(&spin);
    }
}
static void readers(int number) {
    (void)number;
    pthread_rwlock_rdlock(&read_write);
    chain(rounds);
    pthread_rwlock_unlock(&read_write);
}
static void barriers(int number) {
    for (int i = 0; i < TIMES; i++) {
        if (i % 2 == number)
            chain(rounds / TIMES);
        pthread_barrier_wait(&barrier);
    }
}
static void own_barriers(int number) {
    for (int i = 0; i < TIMES; i++) {
        if (i % 2 == number)
            chain(rounds / TIMES);
        meet();
    }
}
static void semaphores(int number) {
    for (int i = 0; i < TIMES; i++) {
        sem_wait(number ? &there : &here);
        chain(rounds / TIMES);
        sem_post(number ? &here : &there);
    }
}
static void counted_items(int number) {
    for (int i = 0; i < TIMES; i++)
        if (number) {
            pthread_mutex_lock(&mutex);
            while (!count)
                pthread_cond_wait(&condition, &mutex);
            count--;
            pthread_mutex_unlock(&mutex);
            chain(rounds / TIMES / 2);
        } else {
            chain(rounds / TIMES);
            pthread_mutex_lock(&mutex);
            count++;
            pthread_cond_signal(&condition);
            pthread_mutex_unlock(&mutex);
        }
}
static void ring(int number) {
    for (int i = 0; i < TIMES; i++)
        if (number) {
            if (take() == i)
                chain(rounds / TIMES);
        } else {
            chain(rounds / TIMES / 2);
            put(i);
        }
}
static void ring_held(int number) {
    if (number)
        pthread_mutex_lock(&own);
    ring(number);
    if (number)
        pthread_mutex_unlock(&own);
}
/* Main has the lock since before there was another thread, for a chain. */
static void gated(int number) {
    if (number) {
        pthread_mutex_lock(&mutex);
        chain(rounds);
        pthread_mutex_unlock(&mutex);
    }
}
static void neighbours(int number) {
    if (number) {
        chain(rounds / TIMES);
        pthread_mutex_lock(&pair[0]);
        chain(rounds);
        pthread_mutex_unlock(&pair[0]);
    } else {
        pthread_mutex_lock(&pair[0]);
        pthread_mutex_lock(&pair[1]);
        pthread_mutex_unlock(&pair[0]);
        chain(rounds);
        pthread_mutex_unlock(&pair[1]);
    }
}
static void latch(int number) {
    chain(number ? 0 : rounds);
    done();
}
static void count_down(int number) {
    chain(number ? 0 : rounds);
    if (atomic_fetch_sub(&left, 1) == 1)
        chain(rounds);
}
static void spun_flag(int number) {
    if (number)
        while (!atomic_load(&flag))
            continue;
    chain(rounds);
    atomic_store(&flag, 1);
}
static void work_counter(int number) {
    (void)number;
    for (;;) {
        pthread_mutex_lock(&mutex);
        const int item = count < 2 * TIMES ? count++ : -1;
        pthread_mutex_unlock(&mutex);
        if (item < 0)
            return;
        chain(rounds / TIMES);
    }
}
/* As long as a chain takes at a clock of 3.7 GHz. */
static void sleeper(int number) {
    const long ns = (long)(72e0 * (double)rounds / 3.7);
    if (number)
        nanosleep(&(struct timespec){ns / 1000000000, ns % 1000000000}, NULL);
}

static const struct {
    const char *name;
    void (*thread)(int number);
    int behind; /* chains of the first thread when both have ended, or, of the latch, are done */
} CASES[] = {
    {"mutex", mutual_exclusion, 0},
    {"mutex-half", half_locked, 0},
    {"spin-lock", spin_lock, 0},
    {"readers", readers, 0},
    {"barrier", barriers, 0},
    {"own-barrier", own_barriers, 0},
    {"semaphores", semaphores, 0},
    {"counted-items", counted_items, 0},
    {"ring", ring, 0},
    {"ring-held", ring_held, 0},
    {"gate", gated, 0},
    {"neighbours", neighbours, 0},
    {"latch", latch, 1},
    {"count-down", count_down, 0},
    {"spun-flag", spun_flag, 0},
    {"work-counter", work_counter, 0},
    {"sleep", sleeper, 1},
};
static unsigned chosen;

static void *begin(void *number) {
    CASES[chosen].thread((int)(long)number);
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[2];
    while (argc == 3 && chosen < sizeof CASES / sizeof *CASES &&
           strcmp(CASES[chosen].name, argv[1]))
        chosen++;
    if (argc != 3 || chosen == sizeof CASES / sizeof *CASES)
        return 2;
    rounds = atol(argv[2]);
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_spin_init(&spin, 0);
    sem_init(&here, 0, 1);
    sem_init(&there, 0, 0);
    if (CASES[chosen].thread == gated)
        pthread_mutex_lock(&mutex);
    for (long i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, begin, (void *)i))
            return 1;
    if (CASES[chosen].thread == gated) {
        chain(rounds);
        pthread_mutex_unlock(&mutex);
    }
    if (CASES[chosen].thread == latch) {
        pthread_mutex_lock(&mutex);
        while (count < 2)
            pthread_cond_wait(&condition, &mutex);
        pthread_mutex_unlock(&mutex);
        chain(rounds);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    chain(CASES[chosen].thread != latch ? CASES[chosen].behind * rounds : 0);
    return 0;
}
