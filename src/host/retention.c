/* A timed load stands between fences; what lies below a share of what lines from memory take, in
 * the median, comes from a cache. Only an eighth of the lines is timed, since timing changes what
 * the cache holds. */
#include "host/retention.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/clock.h"
#include "util/clock.h"
#include "util/order.h"
#include "util/random.h"

#if defined __x86_64__

#include <x86intrin.h>

enum {
    LINE = 64,
    LINES = 2 << 14, /* 2 MiB */
    TIMED = 8,       /* one of so many lines is timed */
    TRIES = 9,       /* of each wait; fewer in a hurry: */
    QUICK_TRIES = 3,
    L2_BYTES = 4 << 20, /* where the system does not say */
    SWEEPS = 2          /* through twice the L2, to push lines out of it */
};
static const double WAITS[HOST_WAITS] = {0,     0.001, 0.002, 0.003, 0.005, 0.007, 0.01,
                                         0.015, 0.02,  0.03,  0.05,  0.1,   0.2};
static const unsigned LOADS[HOST_LOADS] = {1, 2, 4};
static const double NEAR = 0.6;  /* of what memory takes: a cache has it */
static const double CLEAR = 1.5; /* times what a cache takes: memory, at least */

struct bench {
    char *lines, *others; /* LINES of them; what pushes them out */
    size_t other_bytes;
    uint32_t *order;
    uint64_t seed;
    double border; /* ticks */
    double ticks_per_second, ticks_per_cycle;
};

ORDER(compare, double, ascending(*a, *b))

static double median(double *items, size_t count) {
    qsort(items, count, sizeof *items, compare);
    return items[count / 2];
}

static void load(const char *at) {
    (void)*(const volatile char *)at;
}

static char *line_of(const struct bench *bench, size_t place) {
    return bench->lines + (size_t)bench->order[place] * LINE;
}

static double timed_load(const char *at) {
    _mm_lfence();
    const uint64_t begin = __rdtsc();
    _mm_lfence();
    load(at);
    _mm_lfence();
    return (double)(__rdtsc() - begin);
}

static void shuffle(struct bench *bench) {
    for (uint32_t i = LINES - 1; i > 0; i--) {
        const uint32_t other = (uint32_t)(random_next(&bench->seed) % (i + 1));
        const uint32_t kept = bench->order[i];
        bench->order[i] = bench->order[other];
        bench->order[other] = kept;
    }
}

static void flush(const struct bench *bench) {
    for (size_t i = 0; i < LINES; i++)
        _mm_clflush(bench->lines + i * LINE);
    _mm_mfence();
}

static void push_out(const struct bench *bench) {
    for (unsigned sweep = 0; sweep < SWEEPS; sweep++)
        for (size_t i = 0; i < bench->other_bytes; i += LINE)
            load(bench->others + i);
}

static void load_all(const struct bench *bench) {
    for (size_t i = 0; i < LINES; i++)
        load(line_of(bench, i));
}

static void wait_for(const struct bench *bench, double seconds) {
    const uint64_t end = __rdtsc() + (uint64_t)(seconds * bench->ticks_per_second);
    while (__rdtsc() < end)
        _mm_pause();
}

/* Whether lines of memory and of a cache are told apart: first all are in memory, then in the L2.
 */
static bool find_border(struct bench *bench) {
    enum { SOME = 1024 };
    double cold[SOME], warm[SOME];
    shuffle(bench);
    flush(bench);
    for (size_t i = 0; i < SOME; i++)
        cold[i] = timed_load(line_of(bench, i));
    for (size_t i = 0; i < SOME; i++)
        warm[i] = timed_load(line_of(bench, i));
    const double memory = median(cold, SOME);
    bench->border = NEAR * memory;
    return memory > CLEAR * median(warm, SOME);
}

static double share_kept(struct bench *bench, unsigned loads, double wait) {
    size_t kept = 0, timed = 0;
    shuffle(bench);
    flush(bench);
    for (unsigned i = 0; i < loads; i++) {
        load_all(bench);
        push_out(bench);
    }
    wait_for(bench, wait);
    for (size_t i = 0; i < LINES; i++)
        if (random_next(&bench->seed) % TIMED == 0) {
            kept += timed_load(line_of(bench, i)) < bench->border;
            timed++;
        }
    return timed ? (double)kept / (double)timed : 0;
}

/* All by turns, so that what others do meanwhile is the same for all. False: told to stop. */
static bool measure(struct bench *bench, unsigned tries, const struct watcher *watcher,
                    struct host_retention *retention) {
    double shares[HOST_LOADS][HOST_WAITS][TRIES];
    for (unsigned try = 0; try < tries; try++)
        for (unsigned wait = 0; wait < HOST_WAITS; wait++)
            for (unsigned loads = 0; loads < HOST_LOADS; loads++) {
                if (watcher_stops(watcher))
                    return false;
                shares[loads][wait][try] = share_kept(bench, LOADS[loads], WAITS[wait]);
            }
    for (unsigned wait = 0; wait < HOST_WAITS; wait++) {
        retention->cycles[wait] = WAITS[wait] * bench->ticks_per_second / bench->ticks_per_cycle;
        for (unsigned loads = 0; loads < HOST_LOADS; loads++)
            retention->kept[loads][wait] = median(shares[loads][wait], tries);
    }
    return true;
}

/* A unit that something else ran beside may be anything. */
static void know_time(struct bench *bench) {
    enum { UNITS = 99 };
    double units[UNITS];
    unsigned here;
    const double begin = clock_monotonic();
    const uint64_t ticks = __rdtscp(&here);
    int64_t processor = here;
    while (clock_monotonic() < begin + 0.02)
        ;
    bench->ticks_per_second = (double)(__rdtsc() - ticks) / (clock_monotonic() - begin);
    for (unsigned i = 0; i < UNITS; i++)
        units[i] = clock_unit(&processor);
    bench->ticks_per_cycle = median(units, UNITS);
}

/* Large pages where there are some: no load waits for its translation then. */
static char *map(size_t bytes) {
    char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    madvise(at, bytes, MADV_HUGEPAGE);
    for (size_t i = 0; i < bytes; i += HOST_PAGE)
        at[i] = 1;
    return at;
}

static bool prepare(struct bench *bench, struct error *error) {
    const long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
    bench->seed = 1;
    bench->other_bytes = 2 * (size_t)(l2 > 0 ? l2 : L2_BYTES);
    bench->order = calloc(LINES, sizeof *bench->order);
    bench->lines = map((size_t)LINES * LINE);
    bench->others = map(bench->other_bytes);
    for (uint32_t i = 0; bench->order && i < LINES; i++)
        bench->order[i] = i;
    know_time(bench);
    return (bench->order && bench->lines && bench->others) ||
           error_set(error, "out of memory for lines");
}

static void release(struct bench *bench) {
    if (bench->lines)
        munmap(bench->lines, (size_t)LINES * LINE);
    if (bench->others)
        munmap(bench->others, bench->other_bytes);
    free(bench->order);
}

bool host_retention_measure(bool quick, const struct watcher *watcher,
                            struct host_retention *retention, struct error *error) {
    struct bench bench = {0};
    *retention = (struct host_retention){.state = HOST_NOT_RUN};
    const bool good = prepare(&bench, error);
    if (good && !find_border(&bench)) {
        retention->state = HOST_FAILED;
        snprintf(retention->failure, sizeof retention->failure,
                 "a line from memory takes about as long as one from a cache");
    } else if (good && measure(&bench, quick ? QUICK_TRIES : TRIES, watcher, retention)) {
        retention->state = HOST_MEASURED;
    }
    release(&bench);
    return good;
}

#else

bool host_retention_measure(bool quick, const struct watcher *watcher,
                            struct host_retention *retention, struct error *error) {
    (void)quick, (void)watcher, (void)retention;
    return error_set(error, "only x86-64 processors can be calibrated");
}

#endif
