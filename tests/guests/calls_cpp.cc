/* Calls of C++: exceptions through several frames, with destructors on the way, thrown again, and
 * caught in recursion; virtual functions; longjmp beside them. */
#include <setjmp.h>

#include "call_log.h"

static volatile unsigned sink;
static jmp_buf out;

static void leaf(unsigned times) {
    for (unsigned i = 0; i < times; i++)
        sink = sink + i;
}

struct Guard {
    unsigned times;
    explicit Guard(unsigned count) : times(count) { leaf(1); }
    ~Guard() { leaf(times); }
};
struct Shape {
    virtual ~Shape() {}
    virtual unsigned area(unsigned n) = 0;
};
struct Square : Shape {
    unsigned area(unsigned n) override { leaf(n); return n * n; }
};
struct Broken : Shape {
    unsigned area(unsigned n) override { leaf(2); throw n; }
};

static unsigned measure(Shape &shape, unsigned n) {
    Guard guard(n);
    unsigned area = shape.area(n);
    leaf(1);
    return area;
}
static unsigned nested(Shape &shape, unsigned depth) {
    Guard guard(2);
    if (!depth)
        return measure(shape, 3);
    try {
        unsigned area = nested(shape, depth - 1);
        leaf(4);
        return area;
    } catch (unsigned n) {
        leaf(5);
        if (depth == 2)
            throw;
        if (depth == 3)
            return measure(shape, n); /* throws again */
        throw n + 1;
    }
}
static unsigned handled(Shape &shape, unsigned depth) {
    try {
        return nested(shape, depth);
    } catch (unsigned n) {
        leaf(n);
        return n;
    }
}
static void jumps(unsigned depth) {
    if (!depth)
        longjmp(out, 1);
    leaf(1);
    jumps(depth - 1);
    sink = sink + 1;
}

int main(int argc, char **argv) {
    unsigned times = argc > 1 ? (unsigned)atoi(argv[1]) : 3;
    for (volatile unsigned i = 0; i < times; i = i + 1) {
        Square square;
        Broken broken;
        handled(square, 4);
        for (unsigned depth = 0; depth < 6; depth++)
            handled(broken, depth);
        struct log_node *here = log_now;
        if (!setjmp(out))
            jumps(3);
        else
            log_now = here;
        leaf(7);
    }
    return 0;
}
