/* Cycles of a run under several layouts of its memory (study/layouts.h), and what they say: how far
 * they lie apart, and whether two builds differ by more than that. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "simulate/simulate.h"
#include "util/median.h"

struct layout_cycles {
    bool known;
    uint64_t cycles, instructions;
    double half_interval; /* of an estimate, 95 %; 0: exact; -1: not known */
};

/* Elapsed cycles. */
struct layout_cycles layout_cycles_of(const struct simulation *simulation);

struct layout_spread {
    uint32_t count;       /* layouts that are known */
    uint32_t least, most; /* numbers of the layouts of the fewest and the most cycles */
    uint64_t least_cycles, most_cycles;
    double median;        /* cycles */
    double percent;       /* from least to most, of the median */
    double half_interval; /* of an estimate, in the mean of the layouts; 0: exact; -1: not known */
};
/* Of at least one that is known. False: out of memory. */
bool layout_spread_of(const struct layout_cycles *layouts, uint32_t count,
                      struct layout_spread *spread);

/* By how much a program takes more cycles than another, in percent, under each layout that both
 * are known under: a layout moves both in the same way, so that what is common to them cancels. */
struct layout_difference {
    uint32_t count; /* layouts; 0: none */
    struct median_interval percent;
    double least, most; /* percent */
    /* What estimates leave open, in percent: half of the 95 % interval, which is the same under all
     * layouts and widens that of the median; 0: nothing; -1: not known. */
    double estimate;
};
bool layout_difference_of(const struct layout_cycles *before, const struct layout_cycles *after,
                          uint32_t count, struct layout_difference *difference);
/* The interval that the difference is told with, in percent. */
double layout_difference_low(const struct layout_difference *difference);
double layout_difference_high(const struct layout_difference *difference);
