/* What code costs that the op cache does not have, in cycles of dependent additions.
 *
 *     decoding KIND COUNT INSNS OTHERS SECONDS
 *
 * Segments: COUNT of them, each in lines of its own: INSNS moves of 2 bytes, a call of one routine
 * of OTHERS moves (-1: none) and a jump to the next; cycles of a segment, the least time of once
 * through within SECONDS.
 * Blocks: COUNT of them: a compare, a branch on a random bit, INSNS no-ops of OTHERS bytes (2, 4
 * or 9), the first half of which the branch jumps over; cycles of a block, the median of eight
 * times through, each with other bits.
 * SECONDS 0: so many times through as TURNS in the environment says, untimed. */
#include "cycles.h"

#include <stdint.h>
#include <stdio.h>

enum { LINE = 64, MOST_CODE = 1 << 20, BITS = 1 << 16, MOST_TIMES = 1 << 18, TOGETHER = 8 };

static char *code;
static unsigned char bits[2 * BITS];
static long turn;

static void once(long count) {
    (void)count;
    ((void (*)(const unsigned char *))code)(bits + turn++ * 4099 % BITS);
}

static char *put(char *to, const void *bytes, size_t size) {
    memcpy(to, bytes, size);
    return to + size;
}

/* A jump or call of this opcode, with a distance of 4 bytes. */
static char *put_jump(char *to, const char *opcode, const char *target) {
    to = put(to, opcode, strlen(opcode));
    const int32_t offset = (int32_t)(target - (to + 4));
    return put(to, &offset, sizeof offset);
}

static char *put_moves(char *to, long count) {
    static const char REGISTERS[] = "\xc1\xc2\xc6\xc7"; /* ecx, edx, esi, edi of eax */
    for (long i = 0; i < count; i++)
        to = put(to, (const char[]){(char)0x89, REGISTERS[i % 4]}, 2);
    return to;
}

static char *put_no_ops(char *to, long count, long size) {
    for (long i = 0; i < count; i++)
        to = size == 2   ? put(to, "\x66\x90", 2)
             : size == 4 ? put(to, "\x0f\x1f\x40\0", 4)
                         : put(to, "\x66\x0f\x1f\x84\0\0\0\0\0", 9);
    return to;
}

static char *next_line(char *to) {
    return to + (-(intptr_t)to & (LINE - 1));
}

static char *put_segments(char *to, long count, long insns, long others) {
    char *const routine = to + LINE;
    to = put_moves(routine, others < 0 ? 0 : others);
    to = next_line(put(to, "\xc3", 1));
    put_jump(code, "\xe9", to);
    for (long i = 0; i < count; i++) {
        to = put_moves(to, insns);
        if (others >= 0)
            to = put_jump(to, "\xe8", routine);
        char *const next = next_line(to + 2);
        put(to, (const char[]){(char)0xeb, (char)(next - (to + 2))}, 2);
        to = next;
    }
    return to;
}

static char *put_blocks(char *to, long count, long insns, long size) {
    for (int32_t i = 0; i < count; i++) {
        to = put(to, "\x80\xbf", 2); /* cmpb $0, i(%rdi) */
        to = put(put(to, &i, sizeof i), "", 1);
        to = put_jump(to, "\x0f\x84", to + 6 + insns / 2 * size);
        to = put_no_ops(to, insns, size);
    }
    return to;
}

static int compare(const void *a, const void *b) {
    const double difference = *(const double *)a - *(const double *)b;
    return (difference > 0) - (difference < 0);
}

/* Cycles of once through, where no two are alike. */
static double median_cycles(double seconds) {
    static double times[MOST_TIMES];
    const long count = 10000;
    unsigned long unit = ~0ul;
    size_t many = 0;
    for (int i = 0; i < 2000; i++) {
        const unsigned long begin = __rdtsc();
        additions(count);
        const unsigned long time = __rdtsc() - begin;
        unit = time < unit ? time : unit;
    }
    for (const double end = now() + seconds; now() < end && many < MOST_TIMES;) {
        const unsigned long begin = __rdtsc();
        for (int i = 0; i < TOGETHER; i++)
            once(0);
        times[many++] = (double)(__rdtsc() - begin) / TOGETHER;
    }
    qsort(times, many, sizeof *times, compare);
    return times[many / 2] / ((double)unit / (double)count);
}

int main(int words, char **word) {
    if (words != 6)
        return 2;
    const long count = atol(word[2]), insns = atol(word[3]), others = atol(word[4]);
    const double seconds = atof(word[5]);
    const int segments = word[1][0] == 's';
    unsigned random = 1;
    code = mmap(NULL, MOST_CODE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
                -1, 0);
    if (code == MAP_FAILED)
        return 3;
    if (count < 1 || insns < 0 || (insns + 20) * 9 * count > MOST_CODE)
        return 2;
    for (int i = 0; i < 2 * BITS; i++) {
        random = random * 1103515245 + 12345;
        bits[i] = random >> 20 & 1;
    }
    char *const end = segments ? put_segments(code, count, insns, others)
                               : put_blocks(code, count, insns, others);
    *end = (char)0xc3;
    if (seconds == 0) {
        for (long turns = atol(getenv("TURNS")); turns > 0; turns--)
            once(0);
        return 0;
    }
    once(0);
    printf("%f\n",
           (segments ? least_cycles(seconds, once, 0) : median_cycles(seconds)) / (double)count);
}
