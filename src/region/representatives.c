/* One pass over the slices for what is longest, one for what is nearest, one for the choice. */
#include "region/representatives.h"

#include <math.h>
#include <stdlib.h>

struct spread {
    uint64_t longest;   /* slice, in instructions */
    size_t members;     /* slices */
    double nearest;     /* distance of the nearest slice that is half as long */
    double mean_square; /* of all distances */
};

static bool may_stand(const struct projection *slices, size_t slice, const struct spread *spread) {
    return slices->instructions[slice] >= spread->longest / 2;
}

static void measure_spreads(const struct projection *slices, const double *distances2,
                            const struct region_choice *choice, struct spread *spreads) {
    for (uint32_t i = 0; i < choice->point_count; i++)
        spreads[i] = (struct spread){.nearest = INFINITY};
    for (size_t i = 0; i < slices->count; i++) {
        struct spread *spread = &spreads[choice->labels[i]];
        spread->members++;
        if (slices->instructions[i] > spread->longest)
            spread->longest = slices->instructions[i];
    }
    for (size_t i = 0; i < slices->count; i++) {
        struct spread *spread = &spreads[choice->labels[i]];
        if (may_stand(slices, i, spread))
            spread->nearest = fmin(spread->nearest, sqrt(distances2[i]));
        spread->mean_square += distances2[i] / (double)spread->members;
    }
}

bool representatives_take(const struct projection *slices, const double *distances2, double early,
                          struct region_choice *choice) {
    struct spread *spreads = calloc((size_t)choice->point_count + 1, sizeof *spreads);
    if (!spreads)
        return false;
    measure_spreads(slices, distances2, choice, spreads);
    for (size_t i = slices->count; i-- > 0;) { /* backwards: the earliest stays */
        const struct spread *spread = &spreads[choice->labels[i]];
        double limit = spread->nearest + early * sqrt(spread->mean_square);
        if (may_stand(slices, i, spread) && sqrt(distances2[i]) <= limit)
            choice->points[choice->labels[i]].slice = (uint32_t)i;
    }
    free(spreads);
    return true;
}
