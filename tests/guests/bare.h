/* A guest without a C library: what it executes is what is written here, on any processor. */
#include <stddef.h>
#include <stdint.h>

static inline long call3(long number, long a, long b, long c) {
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c)
                     : "rcx", "r11", "memory");
    return result;
}

static inline long call4(long number, long a, long b, long c, long d) {
    register long r10 __asm__("r10") = d;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
                     : "rcx", "r11", "memory");
    return result;
}

enum { SYS_WRITE = 1, SYS_MPROTECT = 10, SYS_SIGACTION = 13, SYS_EXIT = 60 };

static inline _Noreturn void leave(long status) {
    for (;;)
        call3(SYS_EXIT, status, 0, 0);
}

/* Installs a handler(signal, siginfo, ucontext). */
struct bare_action {
    void (*handler)(int, void *, void *);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};
__asm__(".text\n"
        "bare_restorer: mov $15, %eax\n"
        "syscall\n");
extern void bare_restorer(void);

static inline void handle(int signal, void (*handler)(int, void *, void *)) {
    struct bare_action action = {handler, 0x04000004 /* SA_RESTORER | SA_SIGINFO */, bare_restorer,
                                 0};
    call4(SYS_SIGACTION, signal, (long)&action, 0, 8);
}

/* The program counter saved in the ucontext of a handler. */
static inline uint64_t *saved_rip(void *ucontext) {
    return (uint64_t *)((char *)ucontext + 40 + 16 * 8);
}

_Noreturn void run(void);
__asm__(".globl _start\n"
        "_start: and $-16, %rsp\n"
        "call run\n");
