/* Inside of the calibrate room: the levels of a curve that rises in steps, as the latency of a
 * chase does with its size. */
#pragma once

#include "calibrate/step.h"

struct level {
    double height, spread; /* the median of its points, half of what lies between their quartiles */
    /* From here to the next level, 0 of the last one: the last point that is nearer to this one and
     * the first that is nearer to the next, by their ratio; and the last one within LEVEL_NEAR of
     * this one, the first within LEVEL_NEAR of the next. */
    unsigned below, above, last_low, first_high;
};

/* Points by n. A level is four points in a row or more, each within LEVEL_SLOPE of the one before
 * it; the next one is LEVEL_APART times as high at least. The number of levels found, `most` at
 * most. */
#define LEVEL_SLOPE 1.15
#define LEVEL_APART 1.4
#define LEVEL_NEAR  1.25
size_t levels_find(const struct step_point *points, size_t count, struct level *levels,
                   size_t most);
