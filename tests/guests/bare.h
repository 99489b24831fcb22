/* A guest without a C library: what it executes is what is written here, on any processor. */
#include <stddef.h>
#include <stdint.h>

#ifdef __riscv
static inline long call4(long number, long a, long b, long c, long d) {
    register long a7 __asm__("a7") = number, a0 __asm__("a0") = a, a1 __asm__("a1") = b;
    register long a2 __asm__("a2") = c, a3 __asm__("a3") = d;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2), "r"(a3) : "memory");
    return a0;
}

static inline long call3(long number, long a, long b, long c) {
    return call4(number, a, b, c, 0);
}

enum { SYS_WRITE = 64, SYS_EXIT = 93, SYS_SETITIMER = 103, SYS_SIGACTION = 134, SYS_GETPID = 172 };
#else
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

enum {
    SYS_WRITE = 1,
    SYS_MPROTECT = 10,
    SYS_SIGACTION = 13,
    SYS_SETITIMER = 38,
    SYS_GETPID = 39,
    SYS_EXIT = 60,
    SYS_KILL = 62
};
#endif

static inline _Noreturn void leave(long status) {
    for (;;)
        call3(SYS_EXIT, status, 0, 0);
}

/* Installs a handler(signal, siginfo, ucontext). */
#ifdef __riscv
struct bare_action {
    void (*handler)(int, void *, void *);
    unsigned long flags;
    uint64_t mask;
};

static inline void handle(int signal, void (*handler)(int, void *, void *)) {
    struct bare_action action = {handler, 4 /* SA_SIGINFO */, 0};
    call4(SYS_SIGACTION, signal, (long)&action, 0, 8);
}
#else
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

enum { RESTORER = 0x04000000, SIGINFO = 4 };

static inline void handle_with(int signal, void (*handler)(int, void *, void *),
                               unsigned long flags) {
    struct bare_action action = {handler, RESTORER | flags, bare_restorer, 0};
    call4(SYS_SIGACTION, signal, (long)&action, 0, 8);
}

static inline void handle(int signal, void (*handler)(int, void *, void *)) {
    handle_with(signal, handler, SIGINFO);
}

/* The program counter saved in the ucontext of a handler. */
static inline uint64_t *saved_rip(void *ucontext) {
    return (uint64_t *)((char *)ucontext + 40 + 16 * 8);
}
#endif

_Noreturn void run(void);
__asm__(".globl _start\n"
#ifdef __riscv
        "_start: andi sp, sp, -16\n"
#else
        "_start: and $-16, %rsp\n"
#endif
        "call run\n");
