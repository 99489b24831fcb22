/* Inside of the calibrate room: where a curve steps up. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A number tried, and what came of it; NAN: it could not be measured. */
struct step_point {
    unsigned n;
    double y;
};
/* The points are sorted by n. The step is between the last point that is low, *below, and the first
 * that is high, *above: from there on most points are high. A point is high when it lies nearer to
 * the level of the highest points than to that of the lowest. False: the two levels differ by less
 * than `least`, or too few points could be measured. */
bool step_find(const struct step_point *points, size_t count, double least, unsigned *below,
               unsigned *above);
/* Likewise where the levels are known: points above `middle` are high. False: there are none on one
 * side. */
bool step_across(const struct step_point *points, size_t count, double middle, unsigned *below,
                 unsigned *above);
