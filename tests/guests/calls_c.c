/* Calls of C: recursion, also of two functions in turn, pointers, a callback of the C library, and
 * longjmp out of several calls and out of recursion. */
#include <setjmp.h>
#include <string.h>

#include "call_log.h"

static volatile unsigned sink;
static jmp_buf out;

static void leaf(unsigned times) {
    for (unsigned i = 0; i < times; i++)
        sink += i;
}
static unsigned fib(unsigned n) {
    leaf(1);
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
static int odd(unsigned n);
static int even(unsigned n) {
    leaf(n);
    int is = n ? odd(n - 1) : 1;
    sink++;
    return is;
}
static int odd(unsigned n) {
    int is = n ? even(n - 1) : 0;
    sink++;
    return is;
}
static int compare(const void *left, const void *right) {
    leaf(2);
    return *(const int *)left - *(const int *)right;
}
static void throws(unsigned depth) {
    if (!depth)
        longjmp(out, 1);
    leaf(depth);
    throws(depth - 1);
    sink++;
}
static void catches(unsigned depth) {
    struct log_node *here = log_now;
    if (!setjmp(out))
        throws(depth);
    else
        log_now = here;
    leaf(3);
    fib(3);
}
static void each(void (*function)(unsigned), unsigned count) {
    for (unsigned i = 0; i < count; i++)
        function(i);
}

int main(int argc, char **argv) {
    unsigned times = argc > 1 ? (unsigned)atoi(argv[1]) : 3;
    int numbers[100];
    for (unsigned i = 0; i < times; i++) {
        for (int k = 0; k < 100; k++)
            numbers[k] = k * 37 % 101;
        fib(8);
        even(7);
        qsort(numbers, 100, sizeof *numbers, compare);
        each(leaf, 5);
        each(catches, 4);
        leaf(10);
    }
    return 0;
}
