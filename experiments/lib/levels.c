/* Kernels whose top-down class is known: `levels NAME` runs one, whose function is `kernel_NAME`.
 * Arrays are of zeros that nobody wrote, so that nothing but the kernel takes time. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { BYTES = 64 << 20, WORDS = BYTES / 8, LINE_WORDS = 8 };
static uint64_t data[WORDS] __attribute__((aligned(4096)));

#define KERNEL(name) static __attribute__((noinline)) uint64_t kernel_##name(void)

KERNEL(independent) { /* four chains of additions */
    uint64_t a = 1, b = 2, c = 3, d = 4;
    for (int i = 0; i < 300000; i++)
        __asm__ volatile("add $1, %0; add $1, %1; add $1, %2; add $1, %3"
                         : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
    return a + b + c + d;
}
KERNEL(dependent) {
    uint64_t a = 1;
    for (int i = 0; i < 100000; i++)
        __asm__ volatile("add $1, %0; add $1, %0; add $1, %0; add $1, %0; add $1, %0; add $1, %0"
                         : "+r"(a));
    return a;
}
KERNEL(divide) {
    uint64_t a = 1;
    for (uint64_t i = 1; i < 50000; i++)
        a = (a | 1ull << 60) / (i | 3);
    return a;
}
KERNEL(multiply) { /* independent, on the unit that there is for them */
    uint64_t sum = 0;
    for (uint64_t i = 0; i < 100000; i++)
        __asm__ volatile("imul %0, %%rax, %%rcx; imul %0, %%rax, %%rdx; imul %0, %%rax, %%rsi;"
                         "imul %0, %%rax, %%rdi"
                         :
                         : "i"(7), "r"(sum)
                         : "rcx", "rdx", "rsi", "rdi");
    return sum;
}
static uint64_t chase(uint64_t words, int rounds) { /* where to goes by what was there: 0 */
    uint64_t at = 1;
    for (int i = 0; i < rounds; i++)
        at = (at * 2862933555777941757u + 3037000493u + data[at >> 20 & (words - LINE_WORDS)]);
    return at;
}
KERNEL(chase_memory) {
    return chase(WORDS, 50000);
}
KERNEL(chase_l2) {
    return chase((256 << 10) / 8, 200000);
}
KERNEL(chase_l1) {
    uint64_t at = 0;
    for (int i = 0; i < 200000; i++)
        at = data[at];
    return at;
}
KERNEL(stream) { /* a word of each line */
    uint64_t sum = 0;
    for (uint64_t i = 0; i < WORDS; i += 4 * LINE_WORDS)
        sum += data[i] + data[i + LINE_WORDS] + data[i + 2 * LINE_WORDS] + data[i + 3 * LINE_WORDS];
    return sum;
}
KERNEL(store) { /* in lines far from each other */
    for (uint64_t i = 0, at = 1; i < 100000; i++, at = at * 2862933555777941757u + 3037000493u)
        data[at >> 20 & (WORDS - 1)] = i;
    return data[0];
}
KERNEL(unpredictable) {
    uint64_t at = 1, sum = 0;
    for (int i = 0; i < 200000; i++) {
        at = at * 2862933555777941757u + 3037000493u;
        if (at >> 63)
            __asm__ volatile("add $1, %0" : "+r"(sum));
        else
            __asm__ volatile("sub $3, %0" : "+r"(sum));
    }
    return sum;
}
KERNEL(code) { /* more than the L2 cache holds, in a line */
    for (int i = 0; i < 3; i++)
        __asm__ volatile(".rept 300000\n lea 0x12345678(%%rdi), %%rax\n .endr" : : : "rax");
    return 0;
}
KERNEL(jumps) { /* each over 60 bytes */
    for (int i = 0; i < 20000; i++)
        __asm__ volatile(".rept 8\n jmp 1f\n .skip 60, 0x90\n 1:\n .endr");
    return 0;
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        uint64_t (*run)(void);
    } KERNELS[] = {
#define ROW(name) {#name, kernel_##name}
        ROW(independent),  ROW(dependent),     ROW(divide),   ROW(multiply),
        ROW(chase_memory), ROW(chase_l2),      ROW(chase_l1), ROW(stream),
        ROW(store),        ROW(unpredictable), ROW(code),     ROW(jumps)};
    for (size_t i = 0; argc == 2 && i < sizeof KERNELS / sizeof *KERNELS; i++)
        if (!strcmp(argv[1], KERNELS[i].name)) {
            printf("%d\n", (int)KERNELS[i].run() & 1);
            return 0;
        }
    return 1;
}
