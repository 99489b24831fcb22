/* Sets of categories that `culprit icost` simulates anew, the reference of its graph. */
#pragma once

#include "graph/breakdown.h"
#include "graph/category.h"
#include "simulate/multisim.h"
#include "study/study.h"

/* Which sets: none; as many of the rows of a report as take little time, in ICOST_CHECKED
 * instructions together; what a table with a focus needs, that is single categories and the pairs
 * of the focus; single categories and all pairs; all. */
enum icost_sets { ICOST_NONE, ICOST_CHECK, ICOST_FOCUS, ICOST_PAIRS, ICOST_ALL };
enum { ICOST_CHECKED = 32000000, ICOST_CHECKED_SETS = 64 };

/* The sets, the empty one first; returns how many. With ICOST_CHECK those that the report rests on
 * most, by the graph of a run of so many instructions: its costliest, single categories, pairs of
 * `threshold` of the time and more, then the other rows, each with all its subsets; 1: none is
 * simulated. */
struct icost_wanted {
    enum icost_sets sets;
    uint32_t focus, largest; /* of the report */
    double threshold;
};
uint32_t icost_wanted_sets(const struct icost_wanted *wanted, const struct breakdown *graph,
                           uint32_t *sets);

/* A run that was simulated before, to be simulated with these sets. */
struct icost_again {
    struct watch *watch;
    const struct machine *machine;
    const struct categories
        *own; /* all of which category_machine_knows(); NULL: the standard ones */
    uint32_t ideal, jobs;
    const char *path;
    const struct selection *selection;
    uint64_t instructions, cycles; /* with `ideal` alone; cycles 0: not known */
};
/* Fills in the times of those that are done before an interrupt; leaves `breakdown` as it is when
 * not even the first is. *done: simulations. The caller frees the breakdown either way. */
bool icost_simulate_sets(const struct icost_again *again, const struct breakdown *graph,
                         const uint32_t *sets, uint32_t count, struct breakdown *breakdown,
                         uint32_t *done, struct error *error);
