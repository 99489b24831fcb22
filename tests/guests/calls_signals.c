/* Signals: handlers within handlers, on a stack of their own, of faults, left by siglongjmp. */
#include <setjmp.h>
#include <signal.h>

#include "call_log.h"

static volatile unsigned sink;
static volatile int *volatile nowhere;
static sigjmp_buf out;
static char stack[65536];

static void leaf(unsigned times) {
    for (unsigned i = 0; i < times; i++)
        sink += i;
}
static void count(int number) {
    leaf((unsigned)number);
}
static void nest(int number) {
    leaf(2);
    raise(SIGUSR1);
    count(number);
}
static void on_own_stack(int number) {
    leaf(3);
    raise(SIGUSR2);
    leaf((unsigned)number);
}
static void leave(int number) {
    leaf((unsigned)number);
    siglongjmp(out, 1);
}
static void touch(unsigned depth) {
    leaf(1);
    if (depth)
        touch(depth - 1);
    else
        sink += (unsigned)*nowhere;
    sink++;
}
static void faults(unsigned depth) {
    struct log_node *here = log_now;
    if (!sigsetjmp(out, 1))
        touch(depth);
    else
        log_now = here;
    leaf(4);
}
static void raises(int number, unsigned times) {
    for (unsigned i = 0; i < times; i++) {
        leaf(2);
        raise(number);
    }
}
UNLOGGED static void handle(int number, void (*handler)(int), int flags) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigaction(number, &action, NULL);
}

int main(int argc, char **argv) {
    unsigned times = argc > 1 ? (unsigned)atoi(argv[1]) : 3;
    const stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&other, NULL);
    handle(SIGUSR1, count, 0);
    handle(SIGUSR2, nest, 0);
    handle(SIGHUP, on_own_stack, SA_ONSTACK);
    handle(SIGSEGV, leave, SA_NODEFER);
    for (unsigned i = 0; i < times; i++) {
        raises(SIGUSR1, 5);
        raises(SIGUSR2, 5);
        raises(SIGHUP, 5);
        for (unsigned depth = 0; depth < 4; depth++)
            faults(depth);
    }
    return 0;
}
