/* Costs and interaction costs of a run (interaction-cost paper §2) from simulations of a sample of
 * it (sampled_multisim.h).
 *
 * A cost is estimated by a ratio (Cochran 1977 §6): cycles saved over others of the same cells,
 * times these cycles of the whole run, which its simulation knows. The others are all cycles, or
 * those with the events of the category (without any event, when it has none): whichever has the
 * smaller error. The draw is systematic, so the error is told by the residuals of the ratio, of
 * each cell less those of the one before (Wolter 2007 §8.2, estimator v2). Cells that stand for
 * themselves alone add nothing. */
#pragma once

#include "attribute/pics.h"
#include "graph/breakdown.h"

enum {
    MULTISIM_CATEGORIES = 9, /* those of enum ideal before IDEAL_DLONG, in its order */
    MULTISIM_PAIRS = MULTISIM_CATEGORIES * (MULTISIM_CATEGORIES - 1) / 2,
    MULTISIM_SPLIT = MULTISIM_CATEGORIES + MULTISIM_PAIRS, /* IDEAL_SPLIT, of which there are no
                                                              pairs */
    MULTISIM_COSTS
};

/* Sums over cells of x, the cycles that a ratio is to, and s, those saved (of a pair: its icost),
 * times the weight w; and of squares and products of what these differ by from the cell before,
 * times (1 − 1/w) / 2. */
struct multisim_sums {
    double cycles, saved;
    double cycles_squared, cycles_saved, saved_squared;
};

/* Of a cell: x and s, weighted. */
struct multisim_weighted {
    double cycles, saved;
};
/* Adds a cell that stands for `weight` cells. *before: of the one before it, 0 if there was none;
 * then of this one. */
void multisim_sums_add(struct multisim_sums *sums, struct multisim_weighted *before, double weight,
                       double all, double save);

/* Which cycles a cost is a ratio to. */
enum multisim_ratio { MULTISIM_TO_ALL, MULTISIM_TO_EVENTS, MULTISIM_RATIOS };

struct sampled_multisim_result {
    uint64_t cells, instructions;                                /* that were simulated again */
    struct multisim_sums costs[MULTISIM_COSTS][MULTISIM_RATIOS]; /* of pairs: to all cycles only */
};

/* Adds what is known of another part of the run on the same machine. */
void sampled_multisim_sum(struct sampled_multisim_result *sum,
                          const struct sampled_multisim_result *more);

/* Events of performance signatures (PSV_*) that tell of a category; 0: none does. */
uint32_t multisim_events(uint32_t category);

/* What the simulation of the whole run says: its cycles, and those of multisim_events(), or without
 * any event, of each category. */
struct multisim_run_cycles {
    double all, events[MULTISIM_CATEGORIES];
};
/* Of these cells of a profile. */
struct multisim_run_cycles multisim_run_cycles(const struct pics_cell *cells, uint64_t count);

/* Share of the run's cycles, and half of its 95 % interval. */
struct multisim_cost {
    double share, half_interval;
};
/* Of one category or a pair (a bit set): its cost. A pair's is taken to err as its parts do
 * together. */
struct multisim_cost sampled_multisim_cost(const struct sampled_multisim_result *result,
                                           const struct multisim_run_cycles *run, uint32_t set);
/* Of accesses in two lines. */
struct multisim_cost sampled_multisim_split(const struct sampled_multisim_result *result,
                                            const struct multisim_run_cycles *run);
struct multisim_cost sampled_multisim_icost(const struct sampled_multisim_result *result,
                                            const struct multisim_run_cycles *run, uint32_t pair);

/* The times of the run: as it is, and with single categories and pairs idealised; the others were
 * not measured. The caller calls breakdown_free(); `cycles` NULL: none was. */
bool sampled_multisim_breakdown(const struct sampled_multisim_result *result,
                                const struct multisim_run_cycles *run, struct breakdown *breakdown,
                                struct error *error);
