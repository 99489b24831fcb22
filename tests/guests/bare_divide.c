/* Divides by zero, twenty times; the handler steps over the division. */
#include "bare.h"

static volatile uint64_t handled;

static void on_signal(int signal, void *info, void *ucontext) {
    (void)signal, (void)info;
    *saved_rip(ucontext) += 3; /* div %rcx */
    handled++;
}

void run(void) {
    handle(8, on_signal);
    for (int i = 0; i < 20; i++)
        __asm__ volatile("mov $5, %%eax\n xor %%ecx, %%ecx\n xor %%edx, %%edx\n"
                         "add $1, %%r8\n div %%rcx\n add $1, %%r8\n add $1, %%r8" ::
                             : "rax", "rcx", "rdx", "r8", "cc");
    leave(handled == 20 ? 0 : 1);
}
