/* Pearson's coefficient of the ranks, which is Spearman's definition where values are equal, too.
 */
#include "util/rank.h"

#include <math.h>
#include <stdlib.h>

/* How many values are less, and half of those that are equal but for itself: the mean rank from 0.
 */
static double rank_of(const double *values, size_t count, size_t index) {
    size_t less = 0, equal = 0;
    for (size_t i = 0; i < count; i++) {
        less += values[i] < values[index];
        equal += values[i] == values[index];
    }
    return (double)less + 0.5 * (double)(equal - 1);
}

double rank_correlation(const double *a, const double *b, size_t count) {
    const double middle = 0.5 * ((double)count - 1);
    double both = 0, of_a = 0, of_b = 0;
    if (count < RANK_LEAST)
        return NAN;
    for (size_t i = 0; i < count; i++) {
        const double x = rank_of(a, count, i) - middle, y = rank_of(b, count, i) - middle;
        both += x * y;
        of_a += x * x;
        of_b += y * y;
    }
    return of_a > 0 && of_b > 0 ? both / sqrt(of_a * of_b) : NAN;
}
