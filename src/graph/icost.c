/* By Möbius inversion icost(U) = Σ over V ⊆ U of (−1)^(|U| − |V|) cost(V), which solves the
 * recursion of interaction-cost paper §2.2. For all sets at once that is one subtraction for each
 * category and set that has it. */
#include "graph/icost.h"

#include <stdbool.h>

double icost_cost(const double *times, uint32_t set) {
    return times[0] - times[set];
}

double icost(const double *times, uint32_t set) {
    double sum = 0;
    for (uint32_t part = set; part; part = (part - 1) & set) {
        const bool odd = (__builtin_popcount(set) - __builtin_popcount(part)) & 1;
        const double cost = icost_cost(times, part);
        sum += odd ? -cost : cost;
    }
    return sum;
}

void icost_all(const double *times, uint32_t count, double *icosts) {
    const uint32_t sets = 1u << count;
    for (uint32_t set = 0; set < sets; set++)
        icosts[set] = icost_cost(times, set);
    for (uint32_t category = 1; category < sets; category <<= 1)
        for (uint32_t set = 0; set < sets; set++)
            if (set & category)
                icosts[set] -= icosts[set ^ category];
}
