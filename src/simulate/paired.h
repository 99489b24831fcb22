/* How far two runs differ by, from regions that are the same work in both (region/work_bounds.h):
 * the difference of each pair is known exactly, so that only what these differ by is left open, and
 * not what the regions of a run do.
 *
 * What a region stands for is known exactly in both runs, in instructions. Those of the second say
 * how many cycles an instruction takes, a ratio estimate (Cochran 1977 §6.3): of a pair counts only
 * by how much its later cycles differ from its later instructions at the cycles per instruction of
 * its cluster. What is told is a ratio, too, to the first run's cycles: what the pairs' cycles are
 * in that ratio leaves nothing open.
 *
 * What all regions have in common (simulate/estimate.h) is in both runs alike: of it the same share
 * of the difference is left open. */
#pragma once

#include "simulate/simulate.h"

struct paired_difference {
    double share;        /* of the first run's cycles, by which the second has more */
    double half;         /* of its 95 % interval, likewise; −1: not known */
    double instructions; /* that the first run's regions, times what each stands for, tell of the
                            second run; */
    double instructions_half; /* half of the interval of that; −1: not known */
};

/* Of two simulations by the same regions in the same order. False: they are not. */
bool paired_difference_of(const struct simulation *before, const struct simulation *after,
                          struct paired_difference *difference);
