/* All settings of a sweep (region/sweep.h) over files of vectors with their costs. */
#pragma once

#include "region/sweep.h"
#include "study/study.h"

struct sweep_run {
    /* Set before. */
    struct watch *watch;
    const char *const *vectors, *const *costs; /* [count] files */
    uint32_t count;
    struct sweep_settings settings;

    struct profiled_runs *runs; /* one of each file */
    struct region_costs *run_costs;
    struct sweep_input *inputs;
    struct sweep sweep;
};

/* sweep_run_free() either way. */
bool sweep_run_go(struct sweep_run *run, struct error *error);
void sweep_run_free(struct sweep_run *run);
