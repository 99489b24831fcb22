#pragma once

#include <stddef.h>

/* Of at least one value, which it sorts; of an even number halfway between the middle two. */
double median_of(double *values, size_t count);

/* What the median of whatever the values were drawn from lies between, whatever its distribution
 * is: the i-th smallest and the i-th largest value, for the largest i with which that holds with 95
 * % (David and Nagaraja 2003, §7.1: 1 - 2 P(B(count, 1/2) < i)). With fewer than six values none
 * does: then the smallest and the largest, and `confidence` is what these give, 0 for one. */
struct median_interval {
    double median, low, high;
    double confidence; /* 0 to 1 */
};
/* Of at least one value, which it sorts. */
struct median_interval median_interval_of(double *values, size_t count);
