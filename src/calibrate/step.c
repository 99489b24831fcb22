/* The level of low points is the median of the lowest quarter, that of high ones of the highest.
 * The border is put where the fewest points are on the wrong side of it, so that a single disturbed
 * point moves it by nothing. */
#include "calibrate/step.h"
#include "util/order.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 256, FEWEST = 6 };

ORDER(compare, double, ascending(*a, *b))

/* Points that can be used, in `kept`. */
static size_t keep(const struct step_point *points, size_t count, struct step_point kept[MOST]) {
    size_t good = 0;
    for (size_t i = 0; i < count && good < MOST; i++)
        if (isfinite(points[i].y))
            kept[good++] = points[i];
    return good;
}

bool step_across(const struct step_point *points, size_t count, double middle, unsigned *below,
                 unsigned *above) {
    struct step_point kept[MOST];
    const size_t good = keep(points, count, kept);
    size_t wrong = 0, fewest, best = 0;
    for (size_t i = 0; i < good; i++)
        wrong += kept[i].y <= middle; /* were all of them said to be high */
    fewest = wrong;
    for (size_t i = 0; i < good; i++) { /* now 0 to i are said to be low */
        if (kept[i].y > middle)
            wrong++;
        else
            wrong--;
        if (wrong < fewest) {
            fewest = wrong;
            best = i + 1;
        }
    }
    if (!best || best == good)
        return false;
    *below = kept[best - 1].n;
    *above = kept[best].n;
    return true;
}

bool step_find(const struct step_point *points, size_t count, double least, unsigned *below,
               unsigned *above) {
    struct step_point kept[MOST];
    double sorted[MOST];
    const size_t good = keep(points, count, kept);
    if (good < FEWEST)
        return false;
    for (size_t i = 0; i < good; i++)
        sorted[i] = kept[i].y;
    qsort(sorted, good, sizeof *sorted, compare);
    const double low = sorted[good / 8], high = sorted[good - 1 - good / 8];
    return high - low >= least && step_across(kept, good, (low + high) / 2, below, above);
}
