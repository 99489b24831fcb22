/* What streams of lines take on one core, in cycles of dependent additions.
 *
 *     memory_streams KIND BYTES STEP WORDS PAGES SECONDS
 *
 * KIND: read, write, modify (read and write the same), copy, sum2, sum4 (reads of so many arrays),
 * triad (reads of two, writes to a third), chain (each read waits for the one before, and with
 * WORDS 8 for 30 additions). BYTES of all arrays together, which are gone through in order, every
 * STEPth line, again and again. WORDS of each line: 1 or 8, each by an instruction of its own.
 * PAGES: 4K or 2M, with rN behind it runs of N pages in random order. Prints cycles of a line. The
 * arrays are divided into pieces; the least time of each piece within SECONDS counts, and their
 * mean is printed. SECONDS 0: so many times through the arrays as TURNS in the environment says,
 * untimed.
 */
#include "cycles.h"

#include <stdio.h>

enum { LINE = 64, PAGE = 4096, PIECE = 4096, ADDITIONS = 4000, MOST = 4, APART = 5 * 4096 };

#define LOAD(p, n)   __asm__ volatile("mov %c1(%0), %%rax" ::"r"(p), "i"(8 * (n)) : "rax")
#define ADD(p, n)    __asm__ volatile("add %c1(%0), %%rdx" ::"r"(p), "i"(8 * (n)) : "rdx", "cc")
#define STORE(p, n)  __asm__ volatile("mov %%rax, %c1(%0)" ::"r"(p), "i"(8 * (n)) : "memory")
#define CHANGE(p, n) __asm__ volatile("addq $1, %c1(%0)" ::"r"(p), "i"(8 * (n)) : "memory", "cc")
#define ONE(WORD)    WORD(0)
#define EIGHT(WORD)  WORD(0) WORD(1) WORD(2) WORD(3) WORD(4) WORD(5) WORD(6) WORD(7)
#define READ(n)      LOAD(a, n);
#define WRITE(n)     STORE(a, n);
#define MODIFY(n)    CHANGE(a, n);
#define COPY(n)                                                                                    \
    LOAD(a, n);                                                                                    \
    STORE(b, n);
#define SUM2(n)                                                                                    \
    LOAD(a, n);                                                                                    \
    ADD(b, n);
#define SUM4(n)                                                                                    \
    LOAD(a, n);                                                                                    \
    ADD(b, n);                                                                                     \
    ADD(c, n);                                                                                     \
    ADD(d, n);
#define TRIAD(n)                                                                                   \
    LOAD(a, n);                                                                                    \
    ADD(b, n);                                                                                     \
    STORE(c, n);
#define LOOP(name, WORDS, WORD)                                                                    \
    __attribute__((noinline)) static void name(char *a, long bytes, long step, long apart) {       \
        char *b = a + apart, *c = b + apart, *d = c + apart;                                       \
        (void)b, (void)c, (void)d;                                                                 \
        for (const char *end = a + bytes; a < end; a += step, b += step, c += step, d += step) {   \
            WORDS(WORD)                                                                            \
        }                                                                                          \
    }
#define LOOPS(name, WORD) LOOP(name##_one, ONE, WORD) LOOP(name##_eight, EIGHT, WORD)
LOOPS(read, READ)
LOOPS(write, WRITE)
LOOPS(modify, MODIFY)
LOOPS(copy, COPY)
LOOPS(sum2, SUM2)
LOOPS(sum4, SUM4)
LOOPS(triad, TRIAD)

/* Each load waits for the one before; and for so many additions. */
#define CHAIN(name, many)                                                                          \
    __attribute__((noinline)) static void name(char *a, long bytes, long step, long apart) {       \
        (void)apart;                                                                               \
        for (const char *end = a + bytes; a < end;)                                                \
            __asm__ volatile("mov (%0), %%rax\nand $0, %%rax\n.rept " #many                        \
                             "\nadd $0, %%rax\n.endr\nadd %%rax, %0\nadd %1, %0"                   \
                             : "+r"(a)                                                             \
                             : "r"(step)                                                           \
                             : "rax", "cc");                                                       \
    }
CHAIN(chain, 0)
CHAIN(chain_slow, 30)

static const struct kind {
    const char *name;
    int arrays;
    void (*one)(char *, long, long, long), (*eight)(char *, long, long, long);
} KINDS[] = {{"read", 1, read_one, read_eight},       {"write", 1, write_one, write_eight},
             {"modify", 1, modify_one, modify_eight}, {"copy", 2, copy_one, copy_eight},
             {"sum2", 2, sum2_one, sum2_eight},       {"sum4", 4, sum4_one, sum4_eight},
             {"triad", 3, triad_one, triad_eight},    {"chain", 1, chain, chain_slow}};

/* The runs of a piece, one after the other or each where the order says. */
static void through(void (*loop)(char *, long, long, long), char *memory, long from, long bytes,
                    long step, long apart, long run, const long *order) {
    if (!order)
        loop(memory + from, bytes, step, apart);
    else
        for (long at = from; at < from + bytes; at += run)
            loop(memory + order[at / run] * run, run, step, apart);
}
static long *drawn(long count) {
    long *order = malloc((size_t)count * sizeof *order);
    unsigned random = 1;
    for (long i = 0; i < count; i++) {
        random = random * 1103515245 + 12345;
        const long j = (random >> 8) % (unsigned long)(i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    return order;
}

int main(int words, char **word) {
    const struct kind *kind = KINDS;
    if (words != 7)
        return 2;
    while (strcmp(kind->name, word[1]))
        if (++kind == KINDS + sizeof KINDS / sizeof *KINDS)
            return 2;
    const long run = (word[5][2] == 'r' ? atol(word[5] + 3) : 1) * PAGE;
    if (run <= 0)
        return 2;
    const long step = atol(word[3]) * LINE, piece = PIECE * step / kind->arrays / run * run;
    const long rounds = (atol(word[2]) / kind->arrays + piece - 1) / piece, each = rounds * piece;
    void (*loop)(char *, long, long, long) = word[4][0] == '1' ? kind->one : kind->eight;
    const double seconds = atof(word[6]);
    char *memory = pages((size_t)kind->arrays * (size_t)(each + APART),
                         word[5][0] == '2' ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    const long *order = word[5][2] == 'r' ? drawn(each / run) : NULL;
    if (seconds == 0) {
        for (long turns = atol(getenv("TURNS")); turns > 0; turns--)
            through(loop, memory, 0, each, step, each + APART, run, order);
        return 0;
    }
    unsigned long unit = ~0ul, *least = malloc((size_t)rounds * sizeof *least);
    memset(least, 255, (size_t)rounds * sizeof *least);
    through(loop, memory, 0, each, step, each + APART, run, order);
    for (const double end = now() + seconds; now() < end;)
        for (long i = 0; i < rounds; i++) {
            const unsigned long begin = __rdtsc();
            additions(ADDITIONS);
            const unsigned long middle = __rdtsc();
            through(loop, memory, i * piece, piece, step, each + APART, run, order);
            const unsigned long last = __rdtsc();
            unit = middle - begin < unit ? middle - begin : unit;
            least[i] = last - middle < least[i] ? last - middle : least[i];
        }
    double sum = 0;
    for (long i = 0; i < rounds; i++)
        sum += (double)least[i];
    printf("%f\n", sum / ((double)rounds * (double)(piece / step * kind->arrays)) /
                       ((double)unit / ADDITIONS));
}
