/* Loads from address 0, two hundred times, in the middle of blocks; the handler goes on behind. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <ucontext.h>

static void step_over(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)info;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 3; /* mov (%rax), %rax */
}

int main(void) {
    struct sigaction action = {.sa_sigaction = step_over, .sa_flags = SA_SIGINFO};
    volatile uint64_t sum = 0;
    sigaction(SIGSEGV, &action, NULL);
    for (int i = 0; i < 200; i++) {
        for (uint64_t j = 0; j < 2000; j++)
            sum += j * j;
        __asm__ volatile("xor %%eax, %%eax\n add $1, %%r8\n mov (%%rax), %%rax\n add $1, %%r8\n"
                         "add $1, %%r8\n" ::
                             : "rax", "r8", "cc", "memory");
    }
    printf("%lu\n", (unsigned long)sum);
    return 0;
}
