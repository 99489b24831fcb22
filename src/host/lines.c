/* The asking thread writes the number of its request, the other one its answer, each to a line of
 * its own. Whoever has waited for long lets other programs run: beside load the two run together in
 * some of their slices only, and what is measured is measured there. */
#include "host/lines.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/clock.h"
#include "util/clock.h"
#include "util/random.h"

#if defined __x86_64__

#include <x86intrin.h>

enum {
    APART = 128, /* bytes: neighbours are fetched in pairs by some */
    NODES = 128,
    ROUNDS = 100, /* of turns */
    ADDITIONS = 1000,
    ADDITIONS_BEFORE = 50, /* both have begun behind these */
    PATIENCE = 10000,      /* looks, some 100 µs, before others may run, or turns do not count */
    MOST_SAMPLES = CLOCK_MOST
};
/* Of medians whose interval is wider than that nothing is said. */
static const double DOUBT = 0.05;

struct node {
    struct node *next;
    uint64_t written;
} __attribute__((aligned(APART)));

enum request { WRITE, READ, TAKE_TURNS, ADD, END, REQUESTS };

struct pair {
    _Atomic uint64_t asked __attribute__((aligned(APART)));
    _Atomic uint64_t answered __attribute__((aligned(APART)));
    _Atomic uint64_t ball __attribute__((aligned(APART))); /* whose turn it is */
    _Atomic bool given_up __attribute__((aligned(APART)));
    _Atomic uint64_t sum __attribute__((aligned(APART)));
    _Atomic bool enough __attribute__((aligned(APART))); /* additions */
    struct node nodes[NODES];
    int processors[2]; /* of who asks, of the other */
    uint64_t seed;
    bool pinned[2];
    double seconds;
    unsigned least; /* samples of each */
    double precision;
    const struct watcher *watcher;
    double samples[HOST_LINES][MOST_SAMPLES];
    unsigned counts[HOST_LINES];
};

bool host_pin(int processor) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    return sched_setaffinity(0, sizeof one, &one) == 0;
}

static void wait_a_little(unsigned *looks) {
    _mm_pause();
    if (++*looks % PATIENCE == 0)
        sched_yield();
}

/* Writes the ball, which says `from`, back as `to`, so many times. False: the other thread did not
 * do the same in time. */
static bool take_turns(struct pair *pair, uint64_t from, uint64_t to) {
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint64_t expected = from;
        for (unsigned looks = 0; !atomic_compare_exchange_strong(&pair->ball, &expected, to);
             expected = from)
            if (++looks > PATIENCE || atomic_load_explicit(&pair->given_up, memory_order_relaxed)) {
                atomic_store(&pair->given_up, true);
                return false;
            }
    }
    return true;
}

/* ---- the other thread ---- */

/* Additions to a word of both, none of which waits for another's result: whoever loses the line has
 * asked for it again at once. Additions that wait for the one before ask the later the longer their
 * chain is, and the other one keeps the line for that. Returns how often the other thread added in
 * between. */
static unsigned add_often(struct pair *pair, unsigned additions) {
    unsigned changes = 0;
    uint64_t last = atomic_fetch_add_explicit(&pair->sum, 1, memory_order_relaxed);
    for (unsigned i = 1; i < additions; i++) {
        const uint64_t now = atomic_fetch_add_explicit(&pair->sum, 1, memory_order_relaxed);
        changes += now != last + 1;
        last = now;
    }
    return changes;
}

static void answer(struct pair *pair, enum request request) {
    for (unsigned i = 0; i < NODES && request == WRITE; i++)
        ++*(volatile uint64_t *)&pair->nodes[i].written;
    for (unsigned i = 0; i < NODES && request == READ; i++)
        (void)*(volatile uint64_t *)&pair->nodes[i].written;
    if (request == TAKE_TURNS)
        take_turns(pair, 1, 0);
    while (request == ADD && !atomic_load_explicit(&pair->enough, memory_order_relaxed))
        add_often(pair, ADDITIONS_BEFORE);
}

static void *be_other(void *given) {
    struct pair *pair = given;
    uint64_t seen = 0;
    pair->pinned[1] = host_pin(pair->processors[1]);
    for (enum request request = WRITE; request != END;) {
        unsigned looks = 0;
        uint64_t asked;
        while ((asked = atomic_load(&pair->asked)) == seen)
            wait_a_little(&looks);
        seen = asked;
        request = (enum request)(asked % REQUESTS);
        answer(pair, request);
        atomic_store(&pair->answered, asked);
    }
    return NULL;
}

/* ---- the asking thread ---- */

static void ask(struct pair *pair, enum request request) {
    const uint64_t number = (atomic_load(&pair->asked) / REQUESTS + 1) * REQUESTS + request;
    atomic_store(&pair->asked, number);
}

static void await_answer(struct pair *pair) {
    unsigned looks = 0;
    while (atomic_load(&pair->answered) != atomic_load(&pair->asked))
        wait_a_little(&looks);
}

/* One cycle through all nodes in a new order (Sattolo); this processor owns them then. */
static void link_nodes(struct pair *pair) {
    unsigned order[NODES];
    for (unsigned i = 0; i < NODES; i++)
        order[i] = i;
    for (unsigned i = NODES - 1; i > 0; i--) {
        const unsigned other = (unsigned)(random_next(&pair->seed) % i), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    for (unsigned i = 0; i < NODES; i++)
        pair->nodes[order[i]].next = &pair->nodes[order[(i + 1) % NODES]];
}

static void flush_nodes(struct pair *pair) {
    for (unsigned i = 0; i < NODES; i++)
        _mm_clflush(&pair->nodes[i]);
    _mm_mfence();
}

static __attribute__((noinline)) struct node *load_chain(struct node *node, unsigned nodes) {
    while (nodes--)
        __asm__ volatile("mov (%0), %0" : "+r"(node) : : "memory");
    return node;
}

/* Adds 0 to each pointer: what it was is the next one's address. */
static __attribute__((noinline)) struct node *atomic_chain(struct node *node, unsigned nodes) {
    while (nodes--) {
        uint64_t next = 0;
        __asm__ volatile("lock xadd %0, (%1)" : "+r"(next) : "r"(node) : "memory");
        node = (struct node *)(uintptr_t)next; // NOLINT(performance-no-int-to-ptr)
    }
    return node;
}

typedef struct node *chain_function(struct node *node, unsigned nodes);

static uint64_t chain_ticks(struct pair *pair, chain_function *chain, unsigned nodes,
                            int64_t *processor) {
    unsigned before, after;
    _mm_lfence();
    const uint64_t begin = __rdtscp(&before);
    _mm_lfence();
    chain(&pair->nodes[0], nodes);
    _mm_lfence();
    const uint64_t end = __rdtscp(&after);
    _mm_lfence();
    if (before != after || *processor != before)
        *processor = -1;
    return end - begin;
}

/* Brings the lines into the state that a chain shall find. */
static void prepare(struct pair *pair, enum host_line line) {
    link_nodes(pair);
    if (line == HOST_LINE_CLEAN || line == HOST_LINE_UPGRADE)
        flush_nodes(pair);
    if (line != HOST_LINE_ATOMIC) {
        ask(pair, line == HOST_LINE_MODIFIED || line == HOST_LINE_ATOMIC_TO ? WRITE : READ);
        await_answer(pair);
    }
    for (unsigned i = 0; i < NODES && line == HOST_LINE_UPGRADE; i++)
        (void)*(volatile uint64_t *)&pair->nodes[i].written;
    _mm_mfence(); /* what this processor wrote is written */
}

static double line_ticks(struct pair *pair, enum host_line line, int64_t *processor) {
    chain_function *chain =
        line == HOST_LINE_MODIFIED || line == HOST_LINE_CLEAN ? load_chain : atomic_chain;
    prepare(pair, line);
    const uint64_t around = chain_ticks(pair, chain, 0, processor);
    return ((double)chain_ticks(pair, chain, NODES, processor) - (double)around) / NODES;
}

static double turn_ticks(struct pair *pair, int64_t *processor) {
    unsigned after;
    atomic_store(&pair->ball, 0);
    atomic_store(&pair->given_up, false);
    ask(pair, TAKE_TURNS);
    const uint64_t begin = __rdtsc();
    const bool good = take_turns(pair, 0, 1);
    const uint64_t end = __rdtscp(&after);
    await_answer(pair);
    if (!good || *processor != after)
        *processor = -1;
    return (double)(end - begin) / (2.0 * ROUNDS);
}

/* What a number of additions in a row takes alone, up to the middle of the last. Beside the other
 * thread, once that adds, too, so many are in a row. */
static double kept_ticks(struct pair *pair, int64_t *processor) {
    unsigned looks = 0, after;
    add_often(pair, ADDITIONS_BEFORE);
    const uint64_t begin = __rdtsc();
    add_often(pair, ADDITIONS);
    const double one = (double)(__rdtsc() - begin) / ADDITIONS;
    const uint64_t sum = atomic_load(&pair->sum);
    atomic_store(&pair->enough, false);
    ask(pair, ADD);
    while (atomic_load(&pair->sum) == sum)
        wait_a_little(&looks);
    add_often(pair, ADDITIONS_BEFORE);
    const unsigned changes = add_often(pair, ADDITIONS);
    atomic_store(&pair->enough, true);
    await_answer(pair);
    __rdtscp(&after);
    if (*processor != after || !changes)
        *processor = -1;
    return changes ? one * ((double)ADDITIONS / changes - 0.5) : 0;
}

static double ticks_of(struct pair *pair, enum host_line line, int64_t *processor) {
    return line == HOST_LINE_TURNS  ? turn_ticks(pair, processor)
           : line == HOST_LINE_KEPT ? kept_ticks(pair, processor)
                                    : line_ticks(pair, line, processor);
}

static void take_sample(struct pair *pair, enum host_line line) {
    unsigned here;
    __rdtscp(&here);
    int64_t processor = here;
    const double before = clock_unit(&processor);
    const double ticks = ticks_of(pair, line, &processor);
    const double after = clock_unit(&processor);
    if (processor >= 0 && clock_agrees(before, after) && pair->counts[line] < MOST_SAMPLES)
        pair->samples[line][pair->counts[line]++] = ticks / ((before + after) / 2);
}

/* Whether each is known well. */
static bool known(struct pair *pair) {
    for (unsigned line = 0; line < HOST_LINES; line++) {
        double spread, median;
        if (pair->counts[line] < pair->least)
            return false;
        if (pair->counts[line] == MOST_SAMPLES)
            continue;
        median = clock_median(pair->samples[line], pair->counts[line], &spread);
        if (spread > pair->precision * median)
            return false;
    }
    return true;
}

/* All by turns, so that what the host does meanwhile is the same for all. */
static void *measure(void *given) {
    struct pair *pair = given;
    const double until = clock_monotonic() + pair->seconds;
    pair->pinned[0] = host_pin(pair->processors[0]);
    while (clock_monotonic() < until && !known(pair) && !watcher_stops(pair->watcher))
        for (enum host_line line = 0; line < HOST_LINES; line++)
            take_sample(pair, line);
    ask(pair, END);
    return NULL;
}

/* ---- which processors ---- */

/* Whether "0-3,8" in a file of the first processor names the other. */
static bool listed(const char *file, int processor, int other) {
    char path[160], text[256] = "";
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/%s", processor, file);
    FILE *lines = fopen(path, "r");
    if (!lines)
        return false;
    const bool read = fgets(text, sizeof text, lines) != NULL;
    fclose(lines);
    for (char *next = text; read && *next;) {
        char *end;
        const long first = strtol(next, &end, 10);
        const long last = *end == '-' ? strtol(end + 1, &end, 10) : first;
        if (end == next)
            return false;
        if (other >= first && other <= last)
            return true;
        next = *end == ',' ? end + 1 : "";
    }
    return false;
}

/* Better not threads of one core, and with the last cache in common. */
static int merit(int processor, int other) {
    return 2 * !listed("topology/thread_siblings_list", processor, other) +
           listed("cache/index3/shared_cpu_list", processor, other);
}

bool host_two_processors(int processors[2]) {
    cpu_set_t allowed;
    int best = -1;
    processors[0] = -1;
    if (sched_getaffinity(0, sizeof allowed, &allowed))
        return false;
    for (int i = 0; i < CPU_SETSIZE; i++) {
        if (!CPU_ISSET(i, &allowed))
            continue;
        if (processors[0] < 0)
            processors[0] = i;
        else if (merit(processors[0], i) > best) {
            processors[1] = i;
            best = merit(processors[0], i);
        }
    }
    return best >= 0;
}

/* ---- all ---- */

static void conclude(struct pair *pair, struct host_result results[HOST_LINES]) {
    for (unsigned line = 0; line < HOST_LINES; line++) {
        struct host_result *result = &results[line];
        const unsigned count = pair->counts[line];
        if (!pair->pinned[0] || !pair->pinned[1]) {
            result->state = HOST_FAILED;
            snprintf(result->failure, sizeof result->failure,
                     "no thread can be kept on a processor");
            continue;
        }
        if (watcher_stops(pair->watcher))
            continue;
        result->state = HOST_UNSTABLE;
        if (count) {
            result->cycles = clock_median(pair->samples[line], count, &result->spread);
            if (result->spread <= fmax(DOUBT * result->cycles, 0.05))
                result->state = HOST_MEASURED;
        }
    }
}

static bool run_pair(struct pair *pair, struct error *error) {
    pthread_t other, asking;
    if (pthread_create(&other, NULL, be_other, pair))
        return error_set(error, "cannot start a second thread");
    const bool good = !pthread_create(&asking, NULL, measure, pair);
    if (good)
        pthread_join(asking, NULL);
    else
        ask(pair, END);
    pthread_join(other, NULL);
    return good || error_set(error, "cannot start a second thread");
}

bool host_lines_measure(bool quick, const struct watcher *watcher,
                        struct host_result results[HOST_LINES], struct error *error) {
    int processors[2];
    memset(results, 0, HOST_LINES * sizeof *results);
    if (!host_two_processors(processors)) {
        for (unsigned line = 0; line < HOST_LINES; line++) {
            results[line].state = HOST_UNSUPPORTED;
            snprintf(results[line].failure, sizeof results[line].failure,
                     "not measurable here: there is one processor");
        }
        return true;
    }
    struct pair *pair =
        aligned_alloc(HOST_PAGE, (sizeof *pair + HOST_PAGE - 1) / HOST_PAGE * HOST_PAGE);
    if (!pair)
        return error_set(error, "out of memory for lines");
    memset(pair, 0, sizeof *pair);
    memcpy(pair->processors, processors, sizeof processors);
    pair->seed = 1;
    pair->seconds = quick ? 1 : 4;
    pair->least = quick ? 11 : 50;
    pair->precision = quick ? 0.01 : 0.004;
    pair->watcher = watcher;
    const bool good = run_pair(pair, error);
    if (good)
        conclude(pair, results);
    free(pair);
    return good;
}

#else

bool host_lines_measure(bool quick, const struct watcher *watcher,
                        struct host_result results[HOST_LINES], struct error *error) {
    (void)quick, (void)watcher, (void)results;
    return error_set(error, "only x86-64 processors can be calibrated");
}

#endif
