/* Rank correlation. */
#pragma once

#include <stddef.h>

enum { RANK_LEAST = 3 };

/* Spearman's coefficient of pairs (a[i], b[i]): −1 to 1; equal values share their mean rank. NAN:
 * fewer than RANK_LEAST pairs, all values of one side equal, or out of memory. */
double rank_correlation(const double *a, const double *b, size_t count);
