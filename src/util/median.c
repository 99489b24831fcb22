#include "util/median.h"

#include <assert.h>
#include <stdlib.h>

#include "util/order.h"

ORDER(by_size, double, ascending(*a, *b))

double median_of(double *values, size_t count) {
    assert(count);
    qsort(values, count, sizeof *values, by_size);
    return 0.5 * (values[(count - 1) / 2] + values[count / 2]);
}
