/* What the programs that time loads have in common. A cycle is what a dependent addition takes. */
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <x86intrin.h>

static inline double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* So many, each of which waits for the one before. A multiple of 200. */
__attribute__((noinline)) static void additions(long many) {
    long turns = many / 200;
    __asm__ volatile("1: .rept 100\nadd $1, %%rax\nxor $1, %%rax\n.endr\ndec %0\njnz 1b"
                     : "+r"(turns)::"rax");
}

/* Memory that begins with a page of 2 MiB; all of it was written. `advice`: of madvise(). */
static inline char *pages(size_t size, int advice) {
    const size_t huge = 2 << 20;
    char *memory =
        mmap(NULL, size + 2 * huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        exit(3);
    memory = (char *)(((size_t)memory + huge - 1) & ~(huge - 1));
    madvise(memory, size, advice);
    memset(memory, 1, size);
    return memory;
}

/* Cycles of piece(length): the least of those within so many seconds, and of additions. */
static inline double least_cycles(double seconds, void (*piece)(long length), long length) {
    const long count = 10000;
    unsigned long unit = ~0ul, least = ~0ul;
    for (const double end = now() + seconds; now() < end;) {
        const unsigned long begin = __rdtsc();
        additions(count);
        const unsigned long middle = __rdtsc();
        piece(length);
        const unsigned long last = __rdtsc();
        unit = middle - begin < unit ? middle - begin : unit;
        least = last - middle < least ? last - middle : least;
    }
    return (double)least / ((double)unit / (double)count);
}
