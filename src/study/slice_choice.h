/* The slices of a run, or of several merged, that stand for all of it; and what is predicted of it
 * from them. */
#pragma once

#include "region/choose.h"
#include "region/costs.h"
#include "region/prediction.h"

struct slice_choice {
    /* Set before. */
    const char *const *vectors; /* files of basic block vectors, a run each */
    uint32_t vector_count;
    bool merge; /* blocks of all runs have common numbers */
    const struct choose_settings *settings;
    const char *simpoints, *weights; /* files of SimPoint's choice, taken in place of one; NULL */
    const char *const *costs;        /* cycles of slices, a file for each run */
    uint32_t cost_count;             /* 0: nothing is predicted */
    uint32_t draws;                  /* of the prediction's interval */

    struct profiled_runs runs;
    struct region_choice choice;
    struct region_costs measured;
    struct prediction prediction;
};

/* False, with an error that names the file. slice_choice_free() either way. */
bool slice_choice_go(struct slice_choice *chosen, struct error *error);
/* The points that lie in `run` as a list of regions. region_list_free() either way. */
bool slice_choice_list(const struct slice_choice *chosen, uint32_t run, struct region_list *list,
                       struct error *error);
void slice_choice_free(struct slice_choice *chosen);
