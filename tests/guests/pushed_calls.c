/* A timer's handler has what it interrupts call a function, as Go's runtime preempts goroutines: it
 * writes a return address on the stack and changes where the program goes on. The loop calls all
 * the while, so that the signal mostly comes between a call and what it calls. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <sys/time.h>
#include <ucontext.h>

enum { TIMES = 40, RED_ZONE_BYTES = 128 };

static volatile unsigned times, sink;

void work(void);
void __attribute__((noinline)) work(void) {
    times++;
}

/* Saves what work() may change, and steps back over the red zone. */
void pushed(void);
__asm__(".text\n"
        ".globl pushed\n"
        ".type pushed, @function\n"
        "pushed:\n"
        "push %rbp\n"
        "mov %rsp, %rbp\n"
        "pushfq\n"
        "push %rax\npush %rcx\npush %rdx\npush %rsi\npush %rdi\n"
        "push %r8\npush %r9\npush %r10\npush %r11\n"
        "and $-16, %rsp\n"
        "call work\n"
        "lea -80(%rbp), %rsp\n"
        "pop %r11\npop %r10\npop %r9\npop %r8\n"
        "pop %rdi\npop %rsi\npop %rdx\npop %rcx\npop %rax\n"
        "popfq\n"
        "pop %rbp\n"
        "ret $128\n"
        ".size pushed, . - pushed\n");

static void handler(int number, siginfo_t *info, void *context) {
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    (void)number, (void)info;
    registers[REG_RSP] -= RED_ZONE_BYTES + 8;
    *(uint64_t *)registers[REG_RSP] = (uint64_t)registers[REG_RIP];
    registers[REG_RIP] = (greg_t)pushed;
}

static void __attribute__((noinline)) leaf(void) {
    sink++;
}
static void __attribute__((noinline)) other(void) {
    sink--;
}
static void (*volatile through)(void) = other;

static void __attribute__((noinline)) spin(unsigned before) {
    while (times == before) {
        leaf();
        through();
    }
}

int main(void) {
    const struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    const struct itimerval once = {.it_value.tv_usec = 1000};
    sigaction(SIGALRM, &action, NULL);
    for (unsigned before = 0; before < TIMES; before++) {
        setitimer(ITIMER_REAL, &once, NULL);
        spin(before);
    }
    return 0;
}
