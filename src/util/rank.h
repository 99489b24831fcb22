/* Rank correlation. */
#pragma once

#include <stddef.h>

/* Spearman's coefficient of pairs (a[i], b[i]): −1 to 1; equal values share their mean rank. NAN:
 * fewer than three pairs, all values of one side equal, or out of memory. */
double rank_correlation(const double *a, const double *b, size_t count);
