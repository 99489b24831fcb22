/* remedies KERNEL before|after: five kernels with a known trouble, and the same with its remedy.
 * Both do the same work and print the same number; behind it the seconds of processor time that the
 * kernel took. See experiments/host-what-if.py. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define KERNEL __attribute__((noipa)) static

static double seconds; /* of the kernel */

static double processor_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static uint64_t state = 88172645463325252;

/* Marsaglia's xorshift. */
static inline uint64_t next(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Memory at a boundary of 2 MiB, zero, in pages of 2 MiB or of 4 KiB. */
static void *memory(size_t bytes, bool huge) {
    const size_t most = (size_t)2 << 20;
    char *all =
        mmap(NULL, bytes + most, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED)
        abort();
    char *items = all + (most - (uintptr_t)all % most) % most;
    madvise(items, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    memset(items, 0, bytes);
    return items;
}

/* ---- padding: an automaton, whose rows lie 4 KiB apart and so in one set of the L1 ---- */

enum { STATES = 64, INPUTS = 16, STEPS = 100000000 };

KERNEL uint64_t follow(const uint32_t *rows, uint64_t stride) {
    uint64_t at = 0, sum = 0;
    for (uint64_t i = 0; i < STEPS; i++) {
        at = rows[at * stride + i % INPUTS];
        sum += at;
    }
    return sum;
}

static uint64_t padding(bool remedied) {
    const uint64_t stride = (4096 + (remedied ? 64 : 0)) / sizeof(uint32_t);
    uint32_t *rows = memory(STATES * stride * sizeof *rows, false);
    for (uint64_t i = 0; i < STATES; i++)
        for (uint64_t k = 0; k < INPUTS; k++)
            rows[i * stride + k] = (uint32_t)(next() % STATES);
    seconds = -processor_time();
    const uint64_t sum = follow(rows, stride);
    seconds += processor_time();
    return sum;
}

/* ---- prefetch: a look into a large table for every few hundred instructions ---- */

enum { TABLE = 1 << 24, LOOKS = 1000000, WORK = 150, AHEAD = 4 };

KERNEL uint64_t look_up(const uint32_t *table, const uint32_t *where, bool ahead) {
    uint64_t sum = 1;
    for (uint64_t i = 0; i < LOOKS; i++) {
        if (ahead)
            __builtin_prefetch(&table[where[i + AHEAD]]);
        uint64_t x = table[where[i]] + sum;
        for (int k = 0; k < WORK; k++) {
            x += x >> 7;
            __asm__("" : "+r"(x));
        }
        sum ^= x;
    }
    return sum;
}

static uint64_t prefetch(bool remedied) {
    uint32_t *table = memory(TABLE * sizeof *table, false);
    uint32_t *where = memory((LOOKS + AHEAD) * sizeof *where, false);
    for (uint64_t i = 0; i < TABLE; i += 16)
        table[i] = (uint32_t)i;
    for (uint64_t i = 0; i < LOOKS + AHEAD; i++)
        where[i] = (uint32_t)(next() % TABLE);
    seconds = -processor_time();
    const uint64_t sum = look_up(table, where, remedied);
    seconds += processor_time();
    return sum;
}

/* ---- branch-free: a branch that goes either way, and a conditional move ---- */

enum { NUMBERS = 1 << 13, PASSES = 12000 };

KERNEL uint64_t choose_by_branch(const uint32_t *numbers, uint32_t seed) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < NUMBERS; i++)
        if ((numbers[i] * seed) >> 31) {
            __asm__ volatile(""); /* so that it stays a branch */
            sum += numbers[i];
        }
    return sum;
}

KERNEL uint64_t choose_by_mask(const uint32_t *numbers, uint32_t seed) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < NUMBERS; i++) {
        uint64_t mask = -(uint64_t)((numbers[i] * seed) >> 31);
        __asm__("" : "+r"(mask)); /* one at a time, as with the branch */
        sum += numbers[i] & mask;
    }
    return sum;
}

static uint64_t branch_free(bool remedied) {
    uint32_t *numbers = memory(NUMBERS * sizeof *numbers, false);
    uint64_t sum = 0;
    for (uint64_t i = 0; i < NUMBERS; i++)
        numbers[i] = (uint32_t)next();
    seconds = -processor_time();
    for (uint64_t i = 0; i < PASSES; i++) {
        const uint32_t seed = (uint32_t)next() | 1;
        sum += remedied ? choose_by_mask(numbers, seed) : choose_by_branch(numbers, seed);
    }
    seconds += processor_time();
    return sum;
}

/* ---- blocked: many walks along one list, one after the other or side by side in pieces ---- */

enum { NODES = 4096, PIECE = 256, WALKS = 24576 };

struct node {
    struct node *next;
    uint64_t value;
    uint64_t unused[6];
};

KERNEL void walk(uint64_t *sums, const struct node *list) {
    for (uint64_t i = 0; i < WALKS; i++) {
        const struct node *at = list;
        for (uint64_t k = 0; k < NODES; k++, at = at->next)
            sums[i] += at->value ^ i;
    }
}

KERNEL void walk_pieces(uint64_t *sums, const struct node *list) {
    for (uint64_t piece = 0; piece < NODES; piece += PIECE) {
        const struct node *at = list;
        for (uint64_t i = 0; i < WALKS; i++) {
            at = list;
            for (uint64_t k = 0; k < PIECE; k++, at = at->next)
                sums[i] += at->value ^ i;
        }
        list = at;
    }
}

/* A cycle of all nodes, the first of them first. */
static uint64_t blocked(bool remedied) {
    struct node *nodes = memory(NODES * sizeof *nodes, false);
    uint64_t *sums = memory(WALKS * sizeof *sums, false);
    uint64_t sum = 0;
    for (uint64_t i = 0; i < NODES; i++)
        nodes[i] = (struct node){.next = &nodes[i], .value = next()};
    for (uint64_t i = NODES - 1; i; i--) { /* Sattolo 1986 */
        const uint64_t other = next() % i;
        struct node *from = nodes[i].next;
        nodes[i].next = nodes[other].next;
        nodes[other].next = from;
    }
    seconds = -processor_time();
    (remedied ? walk_pieces : walk)(sums, nodes);
    seconds += processor_time();
    for (uint64_t i = 0; i < WALKS; i++)
        sum = sum * 31 + sums[i];
    return sum;
}

/* ---- huge pages: one line in each of more pages than are translated, in a chain ---- */

enum { PAGES = 8192, PAGE = 4096, TOUCHES = 20000000 };

KERNEL uint64_t touch(const uint32_t *words) {
    uint64_t at = 0;
    for (uint64_t i = 0; i < TOUCHES; i++)
        at = words[at];
    return at;
}

/* Sattolo's cycle of the pages; a word at a place of its own in each, at 0 in
 * the first. */
static uint64_t huge_pages(bool remedied) {
    uint32_t *words = memory((size_t)PAGES * PAGE, remedied);
    uint32_t *order = malloc(PAGES * sizeof *order);
    for (uint32_t i = 0; i < PAGES; i++)
        order[i] = i * (PAGE / 4) + (i ? next() % 64 * 16 : 0);
    for (uint32_t i = PAGES - 1; i; i--) {
        const uint32_t other = (uint32_t)(next() % i), item = order[i];
        order[i] = order[other];
        order[other] = item;
    }
    for (uint32_t i = 0; i < PAGES; i++)
        words[order[i]] = order[(i + 1) % PAGES];
    free(order);
    seconds = -processor_time();
    const uint64_t at = touch(words);
    seconds += processor_time();
    return at % PAGE;
}

int main(int count, char **words) {
    static const struct {
        const char *name;
        uint64_t (*run)(bool remedied);
    } KERNELS[] = {{"padding", padding},
                   {"prefetch", prefetch},
                   {"branch-free", branch_free},
                   {"blocked", blocked},
                   {"huge-pages", huge_pages}};
    for (unsigned i = 0; count == 3 && i < sizeof KERNELS / sizeof *KERNELS; i++)
        if (!strcmp(words[1], KERNELS[i].name)) {
            const uint64_t sum = KERNELS[i].run(!strcmp(words[2], "after"));
            printf("%llu %.6f\n", (unsigned long long)sum, seconds);
            return 0;
        }
    fprintf(stderr, "remedies padding|prefetch|branch-free|blocked|huge-pages before|after\n");
    return 2;
}
