/* What the points of a design say together. */
#pragma once

#include "study/design.h"
#include "util/factorial.h"

struct design_summary {
    /* Of each point: how many times as fast as the first point of its program that was done, in
     * time: cycles over the clock. 0: it was not done. */
    double *speeds;
    /* Of each configuration, that is, machine with its settings, in the order of points: the
     * geometric mean of the speeds of all programs that could be captured. 0: one was not done. */
    double *means;
    /* Likewise: no other is as fast for less, or faster for as much. All false without costs. */
    bool *front;
    /* Of ln(cycles), with programs, machines and axes as factors, in this order; factor_count 0:
     * not all points were done, or all are one. */
    struct factorial effects;
    double *logarithms; /* that they are of */
};

/* Marks what no other point dominates (Pareto): another that costs no more and is no slower, and is
 * better in one of the two. Points of speed 0 are none. */
void pareto_front(const double *costs, const double *speeds, size_t count, bool *front);

/* design_summary_free() either way. */
bool design_summary_find(const struct design *design, struct design_summary *summary,
                         struct error *error);
void design_summary_free(struct design_summary *summary);

/* Factors by their number: what they are called, and their levels. */
const char *design_factor_name(const struct design *design, uint32_t factor);
const char *design_factor_level(const struct design *design, uint32_t factor, uint32_t level);
