/* Loads from address 0, twenty times; the handler steps over the load. */
#include "bare.h"

static volatile uint64_t handled, place;

static void on_signal(int signal, void *info, void *ucontext) {
    (void)signal, (void)info;
    *saved_rip(ucontext) += 3; /* mov (%rax), %rax */
    handled++;
}

void run(void) {
    handle(11, on_signal);
    for (int i = 0; i < 20; i++) {
        place = 1;
        __asm__ volatile("xor %%eax, %%eax\n add $1, %%r8\n mov (%%rax), %%rax\n add $1, %%r8" ::
                             : "rax", "r8", "cc");
        place = 2;
    }
    leave(handled == 20 ? 0 : 1);
}
