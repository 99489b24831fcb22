#include "util/erlang.h"

#include <math.h>

/* The share that is left: fewer than `shape` events have come, of which Poisson's distribution
 * tells how many do. */
static double left_after(unsigned shape, double time) {
    double term = exp(-time), sum = term;
    for (unsigned i = 1; i < shape; i++) {
        term *= time / i;
        sum += term;
    }
    return sum;
}

double erlang_quantile(unsigned shape, double left) {
    double low = 0, high = 1;
    while (left_after(shape, high) > left)
        high *= 2;
    for (;;) {
        const double middle = (low + high) / 2;
        if (middle <= low || middle >= high)
            return middle;
        if (left_after(shape, middle) > left)
            low = middle;
        else
            high = middle;
    }
}
