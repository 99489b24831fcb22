/* Signals that fall at known places: one within the handler of another, on a stack of their own,
 * left by a jump, raised by a store in the middle of a block, by a division, and by a rep. */
#include <stdbool.h>

#include "bare.h"

enum { SYS_SIGALTSTACK = 131, SYS_MMAP = 9 };
enum { ILL = 4, FPE = 8, USR1 = 10, SEGV = 11, USR2 = 12, WINCH = 28, RTMIN = 34 };
enum { ON_STACK = 0x08000000, NO_DEFER = 0x40000000 };

volatile uint64_t seen[65];
static uint8_t stack[16384] __attribute__((aligned(16)));
static uint8_t *page; /* not writable at first */
static long self;

static void raise_signal(int signal) {
    call3(SYS_KILL, self, signal, 0);
}

static void count(int signal, void *info, void *ucontext) {
    (void)info, (void)ucontext;
    seen[signal]++;
}

/* Another signal arrives while this one is handled. */
static void nest(int signal, void *info, void *ucontext) {
    (void)info, (void)ucontext;
    seen[signal]++;
    raise_signal(USR2);
    seen[signal]++;
}

static void step_over(int signal, void *info, void *ucontext) {
    (void)info;
    seen[signal]++;
    *saved_rip(ucontext) += 2; /* div %ecx */
}

/* The store, or the rep, that faulted is tried again and succeeds. */
static void allow(int signal, void *info, void *ucontext) {
    (void)info, (void)ucontext;
    seen[signal]++;
    call3(SYS_MPROTECT, (long)page, 8192, 3);
}

/* What the ABI promises at the entry of a function, and what a handler is given. */
uint64_t bare_stack, bare_siginfo, bare_ucontext;
__asm__("bare_entry: mov %rsp, bare_stack(%rip)\n"
        "mov %rsi, bare_siginfo(%rip)\n"
        "mov %rdx, bare_ucontext(%rip)\n"
        "movl (%rsi), %eax\n"
        "mov %rax, seen+8*28(%rip)\n"
        "ret\n");
void bare_entry(int signal, void *info, void *ucontext);

static uint64_t jump_stack;

/* Never returns from the signal: goes on behind the call of leave_by_jump(). */
static void jump(int signal, void *info, void *ucontext) {
    (void)info, (void)ucontext;
    seen[signal]++;
    __asm__ volatile("mov %0, %%rsp\n ret" ::"m"(jump_stack));
}

__attribute__((noinline)) static void leave_by_jump(void) {
    __asm__ volatile("push %%rbx\n push %%rbp\n push %%r12\n push %%r13\n push %%r14\n push %%r15\n"
                     "lea 1f(%%rip), %%rax\n push %%rax\n mov %%rsp, %0\n"
                     "mov %1, %%rdi\n mov %2, %%esi\n mov %3, %%eax\n syscall\n ud2\n"
                     "1: pop %%r15\n pop %%r14\n pop %%r13\n pop %%r12\n pop %%rbp\n pop %%rbx\n"
                     : "=m"(jump_stack)
                     : "m"(self), "i"(ILL), "i"(SYS_KILL)
                     : "rax", "rcx", "rdi", "rsi", "r11", "memory");
}

static void (*volatile called)(int, void *, void *) = count;

void run(void) {
    struct {
        void *at;
        int flags;
        size_t size;
    } alternate = {stack, 0, sizeof stack};
    self = call3(SYS_GETPID, 0, 0, 0);
    call3(SYS_SIGALTSTACK, (long)&alternate, 0, 0);
    handle_with(USR1, nest, SIGINFO);
    handle_with(USR2, count, SIGINFO | ON_STACK);
    handle_with(RTMIN, nest, SIGINFO | ON_STACK | NO_DEFER);
    handle_with(FPE, step_over, SIGINFO);
    handle_with(SEGV, allow, SIGINFO | ON_STACK);
    handle_with(ILL, jump, SIGINFO | NO_DEFER);
    handle_with(WINCH, bare_entry, SIGINFO);
    raise_signal(WINCH);
    bool as_promised = bare_stack % 16 == 8 && bare_ucontext == bare_stack + 8 &&
                       bare_siginfo > bare_ucontext && seen[WINCH] == WINCH;
    count(0, 0, 0); /* the handler as a function */
    for (int round = 0; round < 5; round++) {
        raise_signal(USR1);
        raise_signal(USR2);
        raise_signal(RTMIN);
        leave_by_jump();
        called(0, 0, 0);
        __asm__ volatile("xor %%edx, %%edx\n mov $5, %%eax\n xor %%ecx, %%ecx\n div %%ecx\n"
                         "add $1, %%rdx" ::
                             : "rax", "rcx", "rdx", "cc");
        register long r10 __asm__("r10") = 0x22, r8 __asm__("r8") = -1, r9 __asm__("r9") = 0;
        __asm__ volatile("syscall"
                         : "=a"(page)
                         : "a"(SYS_MMAP), "D"(0), "S"(8192), "d"(1), "r"(r10), "r"(r8), "r"(r9)
                         : "rcx", "r11", "memory");
        if (round % 2)
            __asm__ volatile(
                "add $1, %%rax\n movb $1, (%0)\n sub $1, %%rax\n movb $2, 1(%0)" ::"r"(page)
                : "rax", "memory");
        else
            __asm__ volatile("rep stosb" ::"D"(page), "a"(7), "c"(4096 + 100) : "memory");
    }
    leave(seen[USR1] == 10 && seen[USR2] == 15 && seen[RTMIN] == 10 && seen[FPE] == 5 &&
                  seen[SEGV] == 5 && seen[ILL] == 5 && seen[0] == 6 && as_promised
              ? 0
              : 1);
}
