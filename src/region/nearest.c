/* Points stand in lanes and centroids come one after the other, so that nothing is ever compared
 * across lanes. */
#include "region/nearest.h"

#include <float.h>

#include "region/lanes.h"

#define SEARCH(what)  search_8##what
#define WIDTH         8
#define SEARCH_TARGET MULTIVERSION
#include "region/nearest_lanes.h"
#undef SEARCH
#undef WIDTH
#undef SEARCH_TARGET

#if defined __x86_64__
#define SEARCH(what)  search_16##what
#define WIDTH         16
#define SEARCH_TARGET __attribute__((target("avx512f")))
#include "region/nearest_lanes.h"

uint32_t nearest_lanes(void) {
    return __builtin_cpu_supports("avx512f") ? 16 : 8;
}

void nearest_search(const struct nearest_query *query, uint32_t lanes, struct nearest *found) {
    (lanes == 16 ? search_16 : search_8)(query, found);
}
#else
uint32_t nearest_lanes(void) {
    return 8;
}

void nearest_search(const struct nearest_query *query, uint32_t lanes, struct nearest *found) {
    (void)lanes;
    search_8(query, found);
}
#endif
