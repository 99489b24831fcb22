/* Coroutines by ucontext, with stacks side by side: generators that call functions, and yield from
 * within them; some end, and others begin on their stacks. */
#include <ucontext.h>

#include "call_log.h"

enum { COROUTINES = 5, STACK_BYTES = 16384 };

static volatile unsigned sink;
static ucontext_t contexts[COROUTINES], home;
static char stacks[COROUTINES][STACK_BYTES];
static struct log_node *places[COROUTINES], *place_home;
static int now, alive[COROUTINES];

static void leaf(unsigned times) {
    for (unsigned i = 0; i < times; i++)
        sink += i;
}
UNLOGGED static void yield(void) {
    const int self = now;
    places[self] = log_now;
    log_now = place_home;
    swapcontext(&contexts[self], &home);
    log_now = places[self];
}
static void inner(unsigned depth) {
    leaf(depth);
    yield();
    if (depth)
        inner(depth - 1);
    leaf(1);
}
static void work(unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        leaf(2);
        inner(i % 4);
        yield();
    }
}
static void generate(int number) {
    leaf(4);
    work(2 + (unsigned)number);
    leaf(5);
}
UNLOGGED static void run(int number) {
    log_now = &log_root;
    generate(number);
    alive[number] = 0;
    log_now = place_home;
}
static void resume(int number) {
    place_home = log_now;
    now = number;
    swapcontext(&home, &contexts[number]);
}
static void begin(int number) {
    getcontext(&contexts[number]);
    contexts[number].uc_stack.ss_sp = stacks[number];
    contexts[number].uc_stack.ss_size = STACK_BYTES;
    contexts[number].uc_link = &home;
    makecontext(&contexts[number], (void (*)(void))run, 1, number);
    alive[number] = 1;
}
static void schedule(unsigned depth) {
    int any = 1;
    if (depth) {
        schedule(depth - 1);
        return;
    }
    while (any) {
        any = 0;
        for (int i = 0; i < COROUTINES; i++)
            if (alive[i]) {
                any = 1;
                resume(i);
            }
        leaf(3);
    }
}

int main(int argc, char **argv) {
    unsigned times = argc > 1 ? (unsigned)atoi(argv[1]) : 3;
    for (unsigned i = 0; i < times; i++) {
        for (int k = 0; k < COROUTINES; k++)
            begin(k);
        schedule(i % 2);
    }
    return 0;
}
