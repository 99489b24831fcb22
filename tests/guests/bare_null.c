/* Loads from address 0, twenty times; the handler steps over the load. Ten more with a handler that
 * is not told what raised its signal, which it gets from kill() as well, in the same block. */
#include "bare.h"

static volatile uint64_t handled, place;

static void on_signal(int signal, void *info, void *ucontext) {
    (void)signal, (void)info;
    if (place)
        *saved_rip(ucontext) += 3; /* mov (%rax), %rax */
    handled++;
}

static void load(void) {
    place = 1;
    __asm__ volatile("xor %%eax, %%eax\n add $1, %%r8\n mov (%%rax), %%rax\n add $1, %%r8" ::
                         : "rax", "r8", "cc");
    place = 0;
}

void run(void) {
    handle(11, on_signal);
    for (int i = 0; i < 20; i++)
        load();
    handle_with(11, on_signal, 0);
    for (int i = 0; i < 10; i++) {
        load();
        call3(SYS_KILL, call3(SYS_GETPID, 0, 0, 0), 11, 0);
    }
    leave(handled == 40 ? 0 : 1);
}
