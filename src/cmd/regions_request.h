/* What `culprit regions` was asked for. */
#pragma once

#include "cmd/verb.h"
#include "report/regions.h"
#include "study/slice_choice.h"
#include "study/sweep_run.h"

struct regions_request {
    struct verb_run verb;
    struct choose_settings settings;
    bool max_clusters_given, merge, run_given;
    uint32_t run;
    const char **vectors, **costs; /* in the order of the command line; own */
    uint32_t vector_count, cost_count, draws;
    bool predict, sweep;
    struct sweep_settings grids; /* own their values */
    const char *output, *simpoints, *weights, *load_simpoints, *load_weights, *labels, *svg;

    struct slice_choice chosen;
    struct regions_report report;
    struct sweep_run swept; /* --sweep */
};

extern const struct command_line regions_line;
