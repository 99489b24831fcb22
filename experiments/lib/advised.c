/* advised KERNEL before|after: kernels with a known trouble, and the same with its remedy. Both do
 * the same work and print the same number, but for the order of sums. What is measured begins with
 * the function kernel. See experiments/advice.py. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define KERNEL __attribute__((noipa))

static uint64_t state = 88172645463325252;

/* Marsaglia's xorshift. */
static inline uint64_t next(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Zero. */
static void *memory(size_t bytes) {
    void *all = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED)
        abort();
    return all;
}

/* ---- forward: a word is stored in bytes and loaded whole, or put together in a register ---- */

enum { WORDS = 300000 };

KERNEL uint64_t kernel_forward(const uint8_t *from, uint8_t *to) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < WORDS; i++) {
        uint8_t *at = to + i % 64 * 8;
        for (unsigned k = 0; k < 4; k++) {
            at[k] = from[(i + k) & 4095];
            __asm__("" ::: "memory");
        }
        uint32_t word;
        memcpy(&word, at, 4);
        sum = (sum ^ word) * 3;
    }
    return sum;
}
KERNEL uint64_t kernel_forwarded(const uint8_t *from, uint8_t *to) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < WORDS; i++) {
        uint8_t *at = to + i % 64 * 8;
        uint32_t word = 0;
        for (unsigned k = 0; k < 4; k++)
            word |= (uint32_t)from[(i + k) & 4095] << 8 * k;
        memcpy(at, &word, 4);
        __asm__("" ::: "memory");
        sum = (sum ^ word) * 3;
    }
    return sum;
}
static uint64_t forward(bool after) {
    uint8_t *from = malloc(4096), *to = malloc(512);
    for (int i = 0; i < 4096; i++)
        from[i] = (uint8_t)next();
    return (after ? kernel_forwarded : kernel_forward)(from, to);
}

/* ---- divide: by a number that does not change, or by its reciprocal (Granlund and Montgomery)
 * ---- */

enum { DIVIDENDS = 400000 };

KERNEL uint64_t kernel_divide(uint32_t divisor) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < DIVIDENDS; i++)
        sum += (uint64_t)(i * 2654435761u ^ sum) / divisor;
    return sum;
}
KERNEL uint64_t kernel_multiply(uint32_t divisor) {
    const uint64_t reciprocal = UINT64_MAX / divisor + 1;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < DIVIDENDS; i++) {
        const uint64_t dividend = i * 2654435761u ^ sum;
        uint64_t quotient = (uint64_t)((unsigned __int128)dividend * reciprocal >> 64);
        quotient -= quotient * divisor > dividend;
        sum += quotient;
    }
    return sum;
}
static uint64_t divide(bool after) {
    return (after ? kernel_multiply : kernel_divide)(1000003);
}

/* ---- scale: each number divided by the same, or multiplied by its reciprocal ---- */

enum { REALS = 2048, SCALES = 150 };

KERNEL void kernel_scale(double *to, const double *from, double by) {
    for (int k = 0; k < SCALES; k++)
        for (int i = 0; i < REALS; i++)
            to[i] = from[i] / by + to[i];
}
KERNEL void kernel_scaled(double *to, const double *from, double by) {
    by = 1 / by;
    for (int k = 0; k < SCALES; k++)
        for (int i = 0; i < REALS; i++)
            to[i] = from[i] * by + to[i];
}
static uint64_t scale(bool after) {
    double *to = calloc(REALS, sizeof *to), *from = calloc(REALS, sizeof *from);
    for (int i = 0; i < REALS; i++)
        from[i] = (double)(next() % 1024);
    (after ? kernel_scaled : kernel_scale)(to, from, 64);
    return (uint64_t)to[REALS / 2];
}

/* ---- vectors: arithmetic on neighbours one by one, or four at a time ---- */

enum { FLOATS = 4096, PASSES = 200 };
typedef float vector __attribute__((vector_size(16)));

KERNEL void kernel_scalar(float *restrict to, const float *restrict a, const float *restrict b) {
    for (int k = 0; k < PASSES; k++)
        for (int i = 0; i < FLOATS; i++)
            to[i] = a[i] * b[i] + (a[i] - b[i]) * (a[i] + 2.0f) * 0.25f;
}
KERNEL void kernel_vector(float *restrict to, const float *restrict a, const float *restrict b) {
    for (int k = 0; k < PASSES; k++)
        for (int i = 0; i < FLOATS; i += 4) {
            vector x, y;
            memcpy(&x, a + i, sizeof x);
            memcpy(&y, b + i, sizeof y);
            x = x * y + (x - y) * (x + 2.0f) * 0.25f;
            memcpy(to + i, &x, sizeof x);
        }
}
static uint64_t vectors(bool after) {
    float *a = malloc(sizeof(float[FLOATS])), *b = malloc(sizeof(float[FLOATS])),
          *to = malloc(sizeof(float[FLOATS]));
    for (int i = 0; i < FLOATS; i++) {
        a[i] = (float)(next() % 16);
        b[i] = (float)(next() % 16);
    }
    (after ? kernel_vector : kernel_scalar)(to, a, b);
    return (uint64_t)(to[7] * 4);
}

/* ---- doubles: the same, two at a time ---- */

typedef double pair __attribute__((vector_size(16)));

KERNEL void kernel_doubles(double *restrict to, const double *restrict a) {
    for (int k = 0; k < SCALES; k++)
        for (int i = 0; i < REALS; i++)
            to[i] = a[i] * 1.5 + (a[i] - 0.5) * (a[i] + 2.0) - a[i] * a[i] * 0.25;
}
KERNEL void kernel_pairs(double *restrict to, const double *restrict a) {
    for (int k = 0; k < SCALES; k++)
        for (int i = 0; i < REALS; i += 2) {
            pair x;
            memcpy(&x, a + i, sizeof x);
            x = x * 1.5 + (x - 0.5) * (x + 2.0) - x * x * 0.25;
            memcpy(to + i, &x, sizeof x);
        }
}
static uint64_t doubles(bool after) {
    double *to = calloc(REALS, sizeof *to), *from = calloc(REALS, sizeof *from);
    for (int i = 0; i < REALS; i++)
        from[i] = (double)(next() % 64);
    (after ? kernel_pairs : kernel_doubles)(to, from);
    return (uint64_t)to[5];
}

/* ---- clamp: two limits by branches that go either way, or by conditional moves ---- */

enum { SAMPLES = 1 << 14, CLAMPS = 12 };

KERNEL uint64_t kernel_clamp(const int32_t *samples) {
    uint64_t sum = 0;
    for (int k = 0; k < CLAMPS; k++)
        for (int i = 0; i < SAMPLES; i++) {
            int32_t x = samples[i] + k;
            if (x > 500) {
                __asm__ volatile("");
                x = 500;
            }
            sum += (uint32_t)x;
        }
    return sum;
}
KERNEL uint64_t kernel_clamped(const int32_t *samples) {
    uint64_t sum = 0;
    for (int k = 0; k < CLAMPS; k++)
        for (int i = 0; i < SAMPLES; i++) {
            int32_t x = samples[i] + k, most = 500;
#ifdef __x86_64__
            __asm__("cmp %1, %0\n\tcmovg %1, %0" : "+r"(x) : "r"(most) : "cc");
#else
            x = x > most ? most : x;
#endif
            sum += (uint32_t)x;
        }
    return sum;
}
static uint64_t clamp(bool after) {
    int32_t *samples = malloc(SAMPLES * sizeof *samples);
    for (int i = 0; i < SAMPLES; i++)
        samples[i] = (int32_t)(next() % 1000);
    return (after ? kernel_clamped : kernel_clamp)(samples);
}

/* ---- order: a branch by data in any order, or by the same data, sorted ---- */

KERNEL uint64_t kernel_order(const int32_t *samples) {
    uint64_t sum = 0;
    for (int k = 0; k < CLAMPS; k++)
        for (int i = 0; i < SAMPLES; i++)
            if (samples[i] >= 500) {
                __asm__ volatile("");
                sum += (uint32_t)samples[i] * 3u;
            }
    return sum;
}
static int ascending(const void *a, const void *b) {
    return *(const int32_t *)a - *(const int32_t *)b;
}
static uint64_t order(bool after) {
    int32_t *samples = malloc(SAMPLES * sizeof *samples);
    for (int i = 0; i < SAMPLES; i++)
        samples[i] = (int32_t)(next() % 1000);
    if (after)
        qsort(samples, SAMPLES, sizeof *samples, ascending);
    return kernel_order(samples);
}

/* ---- sparse: a search in order of keys that lie apart, or side by side ---- */

enum { RECORDS = 1 << 13, SEARCHES = 60000 };
struct record {
    uint32_t key, value;
    char rest[120];
};

KERNEL uint64_t kernel_search(const struct record *records, const uint32_t *keys) {
    uint64_t sum = 0;
    for (int i = 0; i < SEARCHES; i++) {
        uint32_t low = 0;
        for (uint32_t step = RECORDS / 2; step; step /= 2)
            low += records[low + step].key <= keys[i % 4096] ? step : 0;
        sum += low;
    }
    return sum;
}
KERNEL uint64_t kernel_search_keys(const uint32_t *records, const uint32_t *keys) {
    uint64_t sum = 0;
    for (int i = 0; i < SEARCHES; i++) {
        uint32_t low = 0;
        for (uint32_t step = RECORDS / 2; step; step /= 2)
            low += records[low + step] <= keys[i % 4096] ? step : 0;
        sum += low;
    }
    return sum;
}
static uint64_t sparse(bool after) {
    struct record *records = memory(sizeof(struct record[RECORDS]));
    uint32_t *dense = memory(sizeof(uint32_t[RECORDS])), *keys = malloc(sizeof(uint32_t[4096]));
    for (uint32_t i = 0; i < RECORDS; i++)
        records[i].key = dense[i] = i * 5;
    for (int i = 0; i < 4096; i++)
        keys[i] = (uint32_t)(next() % (RECORDS * 5));
    return after ? kernel_search_keys(dense, keys) : kernel_search(records, keys);
}

/* ---- gather, table: elements named by an array, prefetched or not, beside a little or much work
 * ----
 *
 * The emulator shows no address of a prefetch of x86-64. On riscv64 a load into x0 is one. */

enum { ELEMENTS = 1 << 22, GATHERS = 50000, DISTANCE = 16 };

static inline void prefetch(const uint64_t *element) {
#ifdef __riscv
    __asm__ volatile("lw zero, 0(%0)" : : "r"(element));
#else
    __builtin_prefetch(element);
#endif
}

static inline uint64_t gather_with(const uint64_t *elements, const uint32_t *which, int work,
                                   bool ahead) {
    uint64_t sum = 0;
    for (int i = 0; i < GATHERS; i++) {
        if (ahead)
            prefetch(&elements[which[i + DISTANCE]]);
        sum += elements[which[i]];
        for (int k = 0; k < work; k++) {
            sum ^= sum << 3;
            __asm__("" : "+r"(sum));
        }
    }
    return sum;
}
KERNEL uint64_t kernel_gather(const uint64_t *elements, const uint32_t *which) {
    return gather_with(elements, which, 8, false);
}
KERNEL uint64_t kernel_gather_ahead(const uint64_t *elements, const uint32_t *which) {
    return gather_with(elements, which, 8, true);
}
KERNEL uint64_t kernel_table(const uint64_t *elements, const uint32_t *which) {
    return gather_with(elements, which, 60, false);
}
KERNEL uint64_t kernel_table_ahead(const uint64_t *elements, const uint32_t *which) {
    return gather_with(elements, which, 60, true);
}

static uint64_t gathered(uint64_t kernel(const uint64_t *, const uint32_t *)) {
    uint64_t *elements = memory(sizeof(uint64_t[ELEMENTS]));
    uint32_t *which = memory((GATHERS + DISTANCE) * sizeof *which);
    for (int i = 0; i < GATHERS + DISTANCE; i++)
        which[i] = (uint32_t)(next() % ELEMENTS);
    return kernel(elements, which);
}
static uint64_t gather(bool after) {
    return gathered(after ? kernel_gather_ahead : kernel_gather);
}
static uint64_t table(bool after) {
    return gathered(after ? kernel_table_ahead : kernel_table);
}

int main(int count, char **words) {
    static const struct {
        const char *name;
        uint64_t (*run)(bool after);
    } KERNELS[] = {{"forward", forward}, {"divide", divide}, {"scale", scale}, {"vectors", vectors},
                   {"doubles", doubles}, {"clamp", clamp},   {"order", order}, {"sparse", sparse},
                   {"gather", gather},   {"table", table}};
    for (unsigned i = 0; count == 3 && i < sizeof KERNELS / sizeof *KERNELS; i++)
        if (!strcmp(words[1], KERNELS[i].name)) {
            printf("%llu\n", (unsigned long long)KERNELS[i].run(!strcmp(words[2], "after")));
            return 0;
        }
    fprintf(stderr, "advised KERNEL before|after\n");
    return 2;
}
