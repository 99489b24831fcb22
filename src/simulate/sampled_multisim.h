/* What idealising each cause, and each pair of causes, saves of a run: cost(S) and icost
 * (interaction-cost paper §2) by multisim (§3), on a sample of the run, while the run is simulated
 * as it is. An observer of the simulation's instructions.
 *
 * The instructions of each core are cut into cells. A cell that is drawn is simulated again and
 * again from the caches, TLBs and predictors that the core has where it begins: as it is, with each
 * category idealised, and with some of the pairs, which take turns. The first
 * instructions of each thread, and of the run, are all drawn; the more there are, the fewer. */
#pragma once

#include "simulate/instruction_observer.h"
#include "simulate/multisim_costs.h"

/* In instructions. Beginnings of threads, where caches are cold, and the rest are drawn from
 * separately: of cells that begin behind N instructions of their part of the run, in_full / N, at
 * most all. */
struct multisim_draw {
    uint64_t cell;       /* length, and what is left of a batch */
    uint64_t beginning;  /* of a thread */
    uint64_t in_full[2]; /* of beginnings, and of the rest */
    uint64_t all_pairs;  /* all pairs of cells that begin in so many instructions of the run */
};
#define MULTISIM_DRAW                                                                              \
    ((struct multisim_draw){                                                                       \
        .cell = 50000, .beginning = 200000, .in_full = {1000000, 1000000}, .all_pairs = 1})
/* Of regions, each a simulation by itself, which begins warm: they have no beginnings. Short cells:
 * what one of them is like the next instructions mostly are too, so that half as many instructions
 * in as many cells tell nearly as much. */
#define MULTISIM_DRAW_OF_REGIONS                                                                   \
    ((struct multisim_draw){.cell = 25000, .in_full = {500000, 500000}, .all_pairs = 1})

struct sampled_multisim;
/* On cores of this machine, out of order, with these idealised (enum ideal) to begin with. NULL
 * with an error. */
struct sampled_multisim *sampled_multisim_new(const struct machine *machine, uint32_t ideal,
                                              struct multisim_draw draw, struct error *error);
void sampled_multisim_free(struct sampled_multisim *multisim);

struct instruction_observer sampled_multisim_observer(struct sampled_multisim *multisim);

/* After the simulation, also an interrupted one. */
struct sampled_multisim_result sampled_multisim_result(const struct sampled_multisim *multisim);
