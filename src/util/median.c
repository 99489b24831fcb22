#include "util/median.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "util/order.h"

ORDER(by_size, double, ascending(*a, *b))

double median_of(double *values, size_t count) {
    assert(count);
    qsort(values, count, sizeof *values, by_size);
    return 0.5 * (values[(count - 1) / 2] + values[count / 2]);
}

struct median_interval median_interval_of(double *values, size_t count) {
    static const double WANTED = 0.95;
    struct median_interval interval = {.median = median_of(values, count)};
    double beyond = exp2(-(double)count), chance = beyond; /* P(B < 1) */
    size_t place = 1;
    interval.confidence = fmax(0, 1 - 2 * beyond);
    while (2 * (place + 1) <= count) {
        chance *= (double)(count - place + 1) / (double)place; /* P(B = place) */
        if (1 - 2 * (beyond + chance) < WANTED)
            break;
        beyond += chance;
        interval.confidence = 1 - 2 * beyond;
        place++;
    }
    interval.low = values[place - 1];
    interval.high = values[count - place];
    return interval;
}
