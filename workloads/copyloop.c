/* copyloop [SWEEPS] [ELEMENTS]: the copy loop of DCPI's Fig. 2, four elements an iteration.
 *
 * On riscv64 it is the figure's loop instruction for instruction, four bytes each: where its cycles
 * go is known from the paper. Loads miss, and stores fill the write buffer. */
#include "workload.h"

/* `count`: a multiple of four, above 0. */
#ifdef __riscv
kernel void copy(uint64_t *to, const uint64_t *from, uint64_t count) {
    uint64_t done = 0;
    __asm__ volatile(".p2align 4\n"
                     ".option push\n"
                     ".option norvc\n"
                     "1: ld t4, 0(%[from])\n"
                     "addi %[done], %[done], 4\n"
                     "ld t5, 8(%[from])\n"
                     "ld t6, 16(%[from])\n"
                     "ld a7, 24(%[from])\n"
                     "addi %[from], %[from], 32\n"
                     "sd t4, 0(%[to])\n"
                     "sltu t4, %[done], %[count]\n"
                     "sd t5, 8(%[to])\n"
                     "sd t6, 16(%[to])\n"
                     "sd a7, 24(%[to])\n"
                     "addi %[to], %[to], 32\n"
                     "bnez t4, 1b\n"
                     ".option pop\n"
                     : [to] "+r"(to), [from] "+r"(from), [done] "+r"(done)
                     : [count] "r"(count)
                     : "t4", "t5", "t6", "a7", "memory");
}
#else
kernel void copy(uint64_t *to, const uint64_t *from, uint64_t count) {
    for (uint64_t i = 0; i < count; i += 4) {
        uint64_t a = from[i], b = from[i + 1], c = from[i + 2], d = from[i + 3];
        to[i] = a;
        to[i + 1] = b;
        to[i + 2] = c;
        to[i + 3] = d;
    }
}
#endif

int main(int count, char **arguments) {
    uint64_t sweeps = argument(count, arguments, 1, 4, "sweeps");
    uint64_t size = (argument(count, arguments, 2, 1000000, "elements") + 3) / 4 * 4;
    uint64_t *from = allocate(size, sizeof *from);
    uint64_t *to = allocate(size, sizeof *to);
    for (uint64_t i = 0; i < size; i++)
        from[i] = i * 3;
    for (uint64_t sweep = 0; sweep < sweeps; sweep++)
        copy(to, from, size);
    uint64_t sum = 0;
    for (uint64_t i = 0; i < size; i++)
        sum += to[i] ^ i;
    printf("copyloop %" PRIu64 "\n", sum);
    free(from);
    free(to);
    return 0;
}
