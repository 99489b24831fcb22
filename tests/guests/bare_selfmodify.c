/* Rewrites an instruction of its own, one that has run before, and one just ahead in the same
 * block. */
#include "bare.h"

extern uint8_t patched[], ahead[];
uint64_t value(void);
__asm__(".text\n"
        ".balign 4096\n"
        "value: nop\n"
        "patched: mov $1, %eax\n"
        "ret\n"
        "modify_ahead:\n" /* rdi: the new immediate */
        "mov %dil, ahead+1(%rip)\n"
        "nop\n"
        "ahead: mov $1, %eax\n"
        "ret\n"
        ".balign 4096\n");
uint64_t modify_ahead(uint64_t value);

void run(void) {
    uint64_t sum = 0;
    call3(SYS_MPROTECT, (long)value, 4096, 7);
    for (int i = 0; i < 50; i++) {
        patched[1] = (uint8_t)i;
        sum += value();
        sum += modify_ahead((uint64_t)i);
    }
    leave(sum == 2 * 49 * 50 / 2 ? 0 : 1);
}
