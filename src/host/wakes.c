/* The two threads' turns are numbers in one futex: thread 0 runs while it is even. */
#include "host/wakes.h"

#include <linux/futex.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "host/clock.h"
#include "host/lines.h"
#include "util/clock.h"

#if defined __x86_64__

enum { MOST_SAMPLES = CLOCK_MOST, PAUSE_NS = 1000000, LATE_EVERY = 8, WARM_UP = 20 };
/* Of medians whose interval is wider than that nothing is said. */
static const double DOUBT = 0.1;
/* Nor of longer ones: that is no kernel's work, nor a hypervisor's, but the time slice of another
 * thread on that processor, and under steady load it spreads little. */
static const double LONGEST_NS = 1e6;

struct turns {
    _Atomic uint32_t turn;
    _Atomic bool over;
    _Atomic uint64_t given_ns; /* when thread 0 woke thread 1 */
    int processors[2];
    bool pinned[2];
    double seconds;
    unsigned least; /* samples of each */
    const struct watcher *watcher;
    double samples[HOST_WAKES][MOST_SAMPLES];
    unsigned counts[HOST_WAKES];
    bool late; /* thread 1 sleeps for a millisecond in this turn */
};

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void add_sample(struct turns *turns, enum host_wake wake, uint64_t ns) {
    if (turns->counts[wake] < MOST_SAMPLES)
        turns->samples[wake][turns->counts[wake]++] = (double)ns;
}

static void wait_for(struct turns *turns, uint32_t parity) {
    uint32_t seen;
    while ((seen = atomic_load(&turns->turn)) % 2 != parity)
        syscall(SYS_futex, &turns->turn, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

/* Threads that were asleep. */
static long give_turn(struct turns *turns) {
    atomic_fetch_add(&turns->turn, 1);
    return syscall(SYS_futex, &turns->turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *be_other(void *given) {
    struct turns *turns = given;
    turns->pinned[1] = host_pin(turns->processors[1]);
    for (bool over = false; !over;) {
        wait_for(turns, 1);
        if (turns->late)
            add_sample(turns, HOST_WAKE_LATE, now_ns() - atomic_load(&turns->given_ns));
        over = atomic_load(&turns->over);
        give_turn(turns);
    }
    return NULL;
}

/* One round: from this thread's wake of the other until that has woken it. */
static void take_round(struct turns *turns, bool late, bool counts) {
    turns->late = late && counts;
    if (late) {
        const struct timespec pause = {.tv_nsec = PAUSE_NS};
        nanosleep(&pause, NULL);
    }
    const uint64_t begin = now_ns();
    atomic_store(&turns->given_ns, begin);
    const long woken = give_turn(turns);
    const uint64_t called = now_ns();
    wait_for(turns, 0);
    const uint64_t end = now_ns();
    if (!counts || woken != 1 || late)
        return;
    add_sample(turns, HOST_WAKE_CALL, called - begin);
    add_sample(turns, HOST_WAKE_LATENCY, (end - begin) / 2);
}

static bool enough(const struct turns *turns) {
    for (unsigned wake = 0; wake < HOST_WAKES; wake++)
        if (turns->counts[wake] < turns->least)
            return false;
    return true;
}

static void *measure(void *given) {
    struct turns *turns = given;
    const double until = clock_monotonic() + turns->seconds;
    turns->pinned[0] = host_pin(turns->processors[0]);
    for (unsigned round = 0; clock_monotonic() < until && !enough(turns); round++) {
        if (watcher_stops(turns->watcher))
            break;
        take_round(turns, round % LATE_EVERY == 0, round >= WARM_UP);
    }
    atomic_store(&turns->over, true);
    turns->late = false;
    give_turn(turns);
    return NULL;
}

static bool run_turns(struct turns *turns, struct error *error) {
    pthread_t other, asking;
    if (pthread_create(&other, NULL, be_other, turns))
        return error_set(error, "cannot start a second thread");
    const bool good = !pthread_create(&asking, NULL, measure, turns);
    if (good) {
        pthread_join(asking, NULL);
    } else {
        atomic_store(&turns->over, true);
        give_turn(turns);
    }
    pthread_join(other, NULL);
    return good || error_set(error, "cannot start a second thread");
}

void host_wake_conclude(struct host_result *result, double *samples, unsigned count) {
    result->state = HOST_UNSTABLE;
    if (!count)
        return;
    result->cycles = clock_median(samples, count, &result->spread);
    if (result->spread <= DOUBT * result->cycles && result->cycles <= LONGEST_NS)
        result->state = HOST_MEASURED;
}

static void conclude(struct turns *turns, struct host_result results[HOST_WAKES]) {
    for (unsigned wake = 0; wake < HOST_WAKES; wake++) {
        struct host_result *result = &results[wake];
        if (!turns->pinned[0] || !turns->pinned[1]) {
            result->state = HOST_FAILED;
            snprintf(result->failure, sizeof result->failure,
                     "no thread can be kept on a processor");
            continue;
        }
        if (watcher_stops(turns->watcher))
            continue;
        host_wake_conclude(result, turns->samples[wake], turns->counts[wake]);
    }
}

bool host_wakes_measure(bool quick, const struct watcher *watcher,
                        struct host_result results[HOST_WAKES], struct error *error) {
    int processors[2];
    memset(results, 0, HOST_WAKES * sizeof *results);
    if (!host_two_processors(processors)) {
        for (unsigned wake = 0; wake < HOST_WAKES; wake++) {
            results[wake].state = HOST_UNSUPPORTED;
            snprintf(results[wake].failure, sizeof results[wake].failure,
                     "not measurable here: there is one processor");
        }
        return true;
    }
    struct turns *turns = calloc(1, sizeof *turns);
    if (!turns)
        return error_set(error, "out of memory for wakes");
    memcpy(turns->processors, processors, sizeof processors);
    turns->seconds = quick ? 1 : 4;
    turns->least = quick ? 50 : MOST_SAMPLES;
    turns->watcher = watcher;
    const bool good = run_turns(turns, error);
    if (good)
        conclude(turns, results);
    free(turns);
    return good;
}

#else

bool host_wakes_measure(bool quick, const struct watcher *watcher,
                        struct host_result results[HOST_WAKES], struct error *error) {
    (void)quick, (void)watcher, (void)results;
    return error_set(error, "only x86-64 processors can be calibrated");
}

#endif
