/* How well chosen slices stand for a run whose every slice's costs are known: nothing is simulated,
 * and no cold start is in it (PinPoints §3.3, step 1; paper C §6). */
#pragma once

#include "region/costs.h"
#include "region/selection.h"

/* Errors of predicted CPI over some draws, as parts of the true one. */
struct draw_errors {
    double mean;      /* of their absolute values */
    double deviation; /* standard deviation, of the errors with their sign */
    double most_95;   /* 95 % of the absolute values are not above this */
};

/* CPI of the slices of a cluster, weighted by their instructions (paper C Fig. C.6). */
struct cluster_spread {
    uint32_t cluster;
    double weight, mean, deviation;
    double chosen; /* of its region */
};

struct prediction {
    const struct region_costs *costs;
    double *truth, *predicted;      /* [column], per instruction */
    struct cluster_spread *spreads; /* by cluster, of those that have a region */
    uint32_t spread_count;          /* 0: the choice has no clusters */
    uint32_t draws;
    struct draw_errors random, systematic; /* of as many slices as the choice has */
};

/* The predicted CPI is the sum of weights times CPIs of the points. */
double prediction_cpi(const struct region_costs *costs, const struct projection *slices,
                      const struct region_point *points, uint32_t count);

/* `draws` of each kind of selection, at least 1; `seed` of the first. prediction_free() either
 * way. */
bool prediction_make(struct prediction *prediction, const struct region_costs *costs,
                     const struct projection *slices, const struct region_choice *choice,
                     uint32_t draws, uint64_t seed, struct error *error);
void prediction_free(struct prediction *prediction);
