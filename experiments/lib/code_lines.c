/* What code costs that no longer lies in the first cache, in cycles of dependent additions.
 *
 *     code_lines ORDER BLOCKS LINES LAST WHAT SECONDS
 *
 * BLOCKS blocks of LINES lines of code of 64 bytes, gone through again and again: 16 instructions
 * of 4 bytes in each line, LAST (at most 14) in the last of a block, and a jump to the next. WHAT:
 * additions, independent ones, or no-ops. ORDER: along (without jumps), next (the block behind),
 * every (every 17th), random, hops (random, of which only the first line is executed, as another's
 * last is). Prints cycles of a block: the least time of once through within SECONDS. SECONDS 0: so
 * many times through as TURNS in the environment says, untimed. */
#include "cycles.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { LINE = 64, MOST = 14, FULL = 16 };

static char *code;
static void once(long count) {
    (void)count;
    ((void (*)(void))code)();
}

static char *put_one(char *to, int number, bool addition) {
    static const char REGISTERS[] = {0xc0, 0xc1, 0xc2, 0xc6}; /* rax, rcx, rdx, rsi */
    if (addition)
        memcpy(to, (const char[]){0x48, (char)0x83, REGISTERS[number % 4], 1}, 4);
    else
        memcpy(to, (const char[]){0x0f, 0x1f, 0x40, 0}, 4);
    return to + 4;
}

static void put_jump(char *at, const char *target) {
    const int32_t offset = (int32_t)(target - (at + 5));
    *at = (char)0xe9;
    memcpy(at + 1, &offset, sizeof offset);
}

static void draw(long *order, long count) {
    unsigned random = 1;
    for (long i = 1; i < count; i++) { /* the first stays the first */
        random = random * 1103515245 + 12345;
        const long j = 1 + (long)((random >> 8) % (unsigned long)i);
        order[i] = order[j];
        order[j] = i;
    }
}

int main(int words, char **word) {
    if (words != 7)
        return 2;
    const long blocks = atol(word[2]), lines = atol(word[3]), size = lines * LINE;
    const int last = atoi(word[4]);
    const double seconds = atof(word[6]);
    const char kind = word[1][0];
    if (blocks < 2 || lines < 1 || last > MOST)
        return 2;
    long *order = calloc((size_t)blocks + 1, sizeof *order);
    code = mmap(NULL, (size_t)(blocks * size + LINE), PROT_READ | PROT_WRITE | PROT_EXEC,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!order || code == MAP_FAILED)
        return 3;
    for (long i = 0; i < blocks; i++)
        order[i] = kind == 'e' ? i * 17 % blocks : i;
    if (kind == 'r' || kind == 'h')
        draw(order, blocks);
    order[blocks] = blocks;
    for (long i = 0; i < blocks; i++) {
        char *to = code + order[i] * size;
        const long full = kind == 'h' ? 0 : kind == 'a' ? lines : lines - 1;
        const long many = FULL * full + (kind == 'a' ? 0 : last);
        for (int k = 0; k < many; k++)
            to = put_one(to, k, word[5][0] == 'a');
        if (kind != 'a')
            put_jump(to, code + order[i + 1] * size);
    }
    code[blocks * size] = (char)0xc3;
    if (seconds == 0) {
        for (long turns = atol(getenv("TURNS")); turns > 0; turns--)
            once(0);
        return 0;
    }
    once(0);
    printf("%f\n", least_cycles(seconds, once, 0) / (double)blocks);
}
