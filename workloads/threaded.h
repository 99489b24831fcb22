/* What workloads of several threads share: `NAME [VARIANT] [THREADS] [WORK]`.
 *
 * The variants of a workload compute the same by the same work: one has a known trouble, another
 * its remedy. The work is split over the threads, and its result depends neither on their number
 * nor on the order in which they run. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "workload.h"

enum { MOST_THREADS = 64, LINE = 64 };

/* Which of `variants`, whose end is NULL, the first argument is; the first one when absent. */
static inline int variant(int count, char **arguments, const char *const *variants) {
    if (count < 2)
        return 0;
    for (int i = 0; variants[i]; i++)
        if (!strcmp(arguments[1], variants[i]))
            return i;
    fprintf(stderr, "%s: there is no variant '%s', but", arguments[0], arguments[1]);
    for (int i = 0; variants[i]; i++)
        fprintf(stderr, "%s %s", i ? "," : "", variants[i]);
    fprintf(stderr, "\n");
    exit(2);
}

/* The second argument; 2 when absent. */
static inline uint64_t thread_count(int count, char **arguments) {
    const uint64_t threads = argument(count, arguments, 2, 2, "threads");
    if (threads > MOST_THREADS) {
        fprintf(stderr, "%s: at most %d threads\n", arguments[0], MOST_THREADS);
        exit(2);
    }
    return threads;
}

/* What a thread does: its number, of so many, and the items from `begin` to before `end`. */
struct part {
    uint64_t number, threads, begin, end;
    void (*work)(const struct part *part);
} __attribute__((aligned(LINE)));

static inline void *part_begin(void *part) {
    ((struct part *)part)->work(part);
    return NULL;
}

/* Splits the items over so many threads, of which the caller is one, and waits for all. */
static inline void run_parts(uint64_t threads, uint64_t items,
                             void (*work)(const struct part *part)) {
    struct part parts[MOST_THREADS];
    pthread_t started[MOST_THREADS];
    const uint64_t each = items / threads, rest = items % threads;
    for (uint64_t i = 0, begin = 0; i < threads; i++) {
        const uint64_t end = begin + each + (i < rest);
        parts[i] = (struct part){i, threads, begin, end, work};
        begin = end;
    }
    for (uint64_t i = 1; i < threads; i++)
        if (pthread_create(&started[i], NULL, part_begin, &parts[i])) {
            fprintf(stderr, "cannot start thread %" PRIu64 "\n", i);
            exit(1);
        }
    work(&parts[0]);
    for (uint64_t i = 1; i < threads; i++)
        pthread_join(started[i], NULL);
}

/* A number that belongs to an item: the same whoever asks. */
static inline uint64_t scatter(uint64_t item) {
    return (item + 1) * 0x9e3779b97f4a7c15;
}

/* Work on a value: so many rounds, each of which needs the one before. */
static inline uint64_t work_on(uint64_t value, uint64_t rounds) {
    while (rounds--)
        value = (value ^ value >> 29) * 0xbf58476d1ce4e5b9;
    return value;
}

/* Adds in memory, not atomically: each time a load and a store, which no compiler takes out of the
 * loop. Only one thread may write there. */
static inline void add_in_memory(uint64_t *place, uint64_t more) {
    __atomic_store_n(place, __atomic_load_n(place, __ATOMIC_RELAXED) + more, __ATOMIC_RELAXED);
}
