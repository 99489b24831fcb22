/* A thousand signals a second into code of every kind, until there were SIGNALS of them or ROUNDS
 * rounds. Each round executes the same number of instructions, and each signal 4 (riscv64: 8).
 * Writes how many of either there were. */
#include "bare.h"

enum { ALARM = 14 };

#ifndef ROUNDS
#define ROUNDS (1ul << 62)
#endif
#ifdef SIGNALS
#define MICROSECONDS 1000
#else
#define SIGNALS      (1ul << 62)
#define MICROSECONDS 0 /* none come */
#endif

uint64_t bare_signals;
#ifdef __riscv
__asm__(".option push\n"
        ".option norelax\n"
        "bare_on_alarm: la t0, bare_signals\n"
        "ld t1, 0(t0)\n"
        "addi t1, t1, 1\n"
        "sd t1, 0(t0)\n"
        "ret\n"
        ".option pop\n");
#else
__asm__("bare_on_alarm: incq bare_signals(%rip)\n"
        "ret\n");
#endif
void bare_on_alarm(int signal, void *info, void *ucontext);

/* Variables, at fixed addresses, so that the code is the same whatever their values. */
static volatile struct {
    uint64_t rounds, signals;
    long microseconds;
} limits = {ROUNDS, SIGNALS, MICROSECONDS};
static uint8_t bytes[2048];

__attribute__((noinline)) static uint64_t twice(uint64_t x) {
    return x * 2;
}
static uint64_t (*volatile called)(uint64_t) = twice;

#ifdef __riscv
static void exchange(uint64_t *sum, uint64_t i) {
    __asm__ volatile("amoadd.d zero, %1, %0" : "+A"(*sum) : "r"(i));
}

static void fill(uint64_t round) {
    for (size_t i = 0; i < sizeof bytes; i += 8)
        *(volatile uint64_t *)(bytes + i) = round;
}
#else
static void exchange(uint64_t *sum, uint64_t i) {
    __asm__ volatile("cmpxchg %1, %0" : "+m"(*sum) : "r"(i) : "rax", "cc");
}

static void fill(uint64_t round) {
    static uint8_t state[512] __attribute__((aligned(16)));
    __asm__ volatile("fxsave64 %0\n fxrstor64 %0" : "+m"(state));
    uint8_t *to = bytes;
    size_t count = sizeof bytes / 2 - (round & 1);
    __asm__ volatile("rep stosw" : "+D"(to), "+c"(count) : "a"(round) : "memory");
    uint8_t *from = bytes;
    to = bytes + sizeof bytes / 2;
    count = 1000;
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(count)::"memory");
}
#endif

static uint64_t work_once(uint64_t round) {
    uint64_t sum = 0;
    for (uint64_t i = 1; i <= 50; i++) {
        sum += called(i) / i;
        exchange(&sum, i);
    }
    fill(round);
    call3(SYS_GETPID, 0, 0, 0);
    return sum;
}

void run(void) {
    const long microseconds = limits.microseconds;
    long every[4] = {0, microseconds, 0, microseconds}, never[4] = {0, 0, 0, 0};
    uint64_t told[2] = {0, 0};
    handle(ALARM, bare_on_alarm);
    call3(SYS_SETITIMER, 0, (long)every, 0);
    for (;;) {
        uint64_t rounds_left = told[0] < limits.rounds;
        uint64_t signals_left = *(volatile uint64_t *)&bare_signals < limits.signals;
        __asm__ volatile("" : "+r"(rounds_left), "+r"(signals_left)); /* one branch for both */
        if (!(rounds_left & signals_left))
            break;
        work_once(told[0]++);
    }
    call3(SYS_SETITIMER, 0, (long)never, 0);
    told[1] = bare_signals;
    call3(SYS_WRITE, 1, (long)told, sizeof told);
    leave(0);
}
