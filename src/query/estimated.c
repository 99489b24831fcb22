/* Errors of several runs need not go the same way: their sum is no further off, as a part of
 * itself, than the one that is furthest off. */
#include <math.h>

#include "query/profile_set.h"

void estimated_add(struct estimated *estimated, const struct store_estimate *estimate) {
    struct store_estimate *of = &estimated->of;
    if (!estimate->count)
        return;
    if (!estimated->epochs++) {
        *of = *estimate;
        return;
    }
    of->count += estimate->count;
    of->windows &= estimate->windows;
    of->simulated = -1;
    of->within = of->within < 0 || estimate->within < 0 ? -1 : fmax(of->within, estimate->within);
}
