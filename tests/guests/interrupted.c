/* interrupted ROUNDS WORK [shared | threaded]: rounds of work, between which there are a fault in
 * the middle of a block, a string instruction, a signal, a look at the clock that says how long to
 * loop, and now and then a child. `shared`: half the way through, memory is mapped that could be
 * shared. `threaded`: it is at once, a third of the way there is another thread for a while, and
 * the clock says nothing. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static uint8_t table[4096];
static volatile sig_atomic_t signals;

static void step_over(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)info;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 3; /* mov (%rax), %rax */
}

static void count_signal(int signal) {
    (void)signal;
    signals++;
}

static __attribute__((noinline)) uint32_t work(uint32_t x, int rounds) {
    for (int i = 0; i < rounds; i++) {
        x = x * 1664525 + table[x >> 20];
        if (x & 1)
            x ^= x >> 7;
    }
    return x;
}

static __attribute__((noinline)) void loop(int rounds) {
    for (volatile int i = 0; i < rounds; i++)
        ;
}

static void fault(void) {
    __asm__ volatile("xor %%eax, %%eax\n add $1, %%r8\n mov (%%rax), %%rax\n add $1, %%r8\n"
                     "add $1, %%r8\n" ::
                         : "rax", "r8", "cc", "memory");
}

static void fill(int value) {
    uint8_t *at = table;
    size_t count = sizeof table;
    __asm__ volatile("rep stosb" : "+D"(at), "+c"(count) : "a"(value) : "memory");
}

static int now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int)(time.tv_nsec & 1023);
}

static void have_child(void) {
    const pid_t child = fork();
    if (child == 0)
        _exit((int)(work(1, 100) & 1));
    waitpid(child, NULL, 0);
}

static void share(void) {
    (void)mmap(NULL, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static void *work_beside(void *rounds) {
    return (void *)(uintptr_t)work(1, *(int *)rounds);
}

static void have_thread(int rounds) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, work_beside, &rounds) || pthread_join(thread, NULL))
        exit(1);
}

int main(int argc, char **argv) {
    if (argc < 3)
        return 2;
    const bool threaded = argc > 3 && strcmp(argv[3], "threaded") == 0;
    const int rounds = atoi(argv[1]), each = atoi(argv[2]);
    const struct sigaction faults = {.sa_sigaction = step_over, .sa_flags = SA_SIGINFO};
    uint32_t x = 1;
    if (sigaction(SIGSEGV, &faults, NULL) ||
        sigaction(SIGUSR1, &(struct sigaction){.sa_handler = count_signal}, NULL))
        return 1;
    for (int i = 0; i < rounds; i++) {
        x = work(x, each);
        fault();
        fill(i);
        (void)raise(SIGUSR1);
        if (!threaded)
            loop(now());
        if (i % 8 == 0)
            have_child();
        if (i == (threaded ? 0 : rounds / 2) && argc > 3)
            share();
        if (i == rounds / 3 && threaded)
            have_thread(5 * each);
    }
    printf("%u %d\n", x, (int)signals);
    return 0;
}
