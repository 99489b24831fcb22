/* Cost and interaction cost (interaction-cost paper §2), from execution times t(S) with every set S
 * of categories idealised:
 *
 *     cost(S)  = t({}) − t(S)                                          (§2.1)
 *     icost(U) = cost(U) − Σ icost(V) over proper subsets V of U       (§2.2)
 *
 * An icost of 0 says that the members are independent; positive: they overlap (parallel), cycles go
 * only when all are removed; negative: they are in series, removing either removes the same cycles.
 * The icosts of all sets and t(everything) add up to t({}).
 *
 * A set is a bit set over the categories, bit 0 the first; `times` is indexed by it. NAN: not
 * measured; so is then what would need it. */
#pragma once

#include <stdint.h>

/* The categories of a pair of which times are [4]. */
enum { ICOST_PAIR = 3 };

double icost_cost(const double *times, uint32_t set);
/* The icost of one set; that of the empty set is 0. */
double icost(const double *times, uint32_t set);
/* The icosts of all sets of `count` categories at once, into icosts[1 << count]. */
void icost_all(const double *times, uint32_t count, double *icosts);
