/* What loads of lines that follow each other by a stride take, in cycles of dependent additions.
 *
 *     line_runs chain LINES STRIDE RUN INSTRUCTIONS SECONDS     each load's address is what the one
 * before loaded line_runs stream LINES STRIDE RANDOM 1 SECONDS            no load waits for another
 *
 * chain: LINES lines in runs of RUN, which follow each other in random order, four strides apart at
 * least; by one load in a loop or by many, each of its own. Prints cycles of a run. stream: LINES
 * places in order or, with RANDOM 1, in random order, in pages of 4 KiB; cycles of a load. The
 * least of many short pieces within SECONDS; SECONDS 0: so many rounds as TURNS in the environment
 * says, untimed. */
#include "cycles.h"

#include <stdio.h>

enum { PIECE = 8192, MANY = 64, GAP = 4 };
static char *place, **table;
static long position, count;

__attribute__((noinline)) static void one(long loads) {
    char *at = place;
    __asm__ volatile("1: mov (%0), %0\ndec %1\njnz 1b" : "+r"(at), "+r"(loads));
    place = at;
}
__attribute__((noinline)) static void many(long loads) {
    char *at = place;
    loads /= MANY;
    __asm__ volatile("1: .rept 64\nmov (%0), %0\n.endr\ndec %1\njnz 1b" : "+r"(at), "+r"(loads));
    place = at;
}
__attribute__((noinline)) static void stream(long loads) {
    for (long i = 0; i < loads; i++) {
        __asm__ volatile("mov (%0), %%rax" ::"r"(table[position]) : "rax");
        position = position + 1 < count ? position + 1 : 0;
    }
}

static void shuffle(long *order, long length) {
    unsigned random = 1;
    for (long i = 0; i < length; i++)
        order[i] = i;
    for (long i = length - 1; i > 0; i--) {
        random = random * 1103515245 + 12345;
        const long j = (random >> 8) % (unsigned long)(i + 1), other = order[i];
        order[i] = order[j];
        order[j] = other;
    }
}
static void make_chain(long lines, long stride, long run) {
    const long runs = lines / run;
    const size_t slot = (size_t)((run + GAP) * stride);
    char *memory = pages(slot * (size_t)runs, MADV_HUGEPAGE);
    long *order = malloc((size_t)runs * sizeof *order);
    shuffle(order, runs);
    for (long i = 0; i < runs; i++) {
        char *begin = memory + slot * (size_t)order[i];
        for (long k = 0; k + 1 < run; k++)
            *(char **)(begin + k * stride) = begin + (k + 1) * stride;
        *(char **)(begin + (run - 1) * stride) = memory + slot * (size_t)order[(i + 1) % runs];
    }
    place = memory;
    count = runs * run;
    free(order);
}
static void make_stream(long lines, long stride, long random) {
    char *memory = pages((size_t)(lines * stride), MADV_NOHUGEPAGE);
    long *order = malloc((size_t)lines * sizeof *order);
    shuffle(order, lines);
    table = malloc((size_t)lines * sizeof *table);
    for (long i = 0; i < lines; i++)
        table[i] = memory + (random ? order[i] : i) * stride;
    count = lines;
    free(order);
}

int main(int words, char **word) {
    if (words != 7)
        return 2;
    const long lines = atol(word[2]), stride = atol(word[3]), run = atol(word[4]);
    const double seconds = atof(word[6]);
    const int chain = word[1][0] == 'c';
    void (*loads)(long) = !chain ? stream : atol(word[5]) == 1 ? one : many;
    if (chain)
        make_chain(lines, stride, run);
    else
        make_stream(lines, stride, run);
    const long round = (count + MANY - 1) / MANY * MANY;
    if (seconds == 0) {
        for (long turns = atol(getenv("TURNS")); turns > 0; turns--)
            loads(round);
        return 0;
    }
    const long piece = round < PIECE ? round : PIECE;
    loads(2 * round);
    printf("%f\n", least_cycles(seconds, loads, piece) / (double)piece * (double)(chain ? run : 1));
}
