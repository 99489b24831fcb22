/* `culprit profilers`: what its files share. */
#pragma once

#include "cmd/run.h"
#include "report/comparison.h"

enum {
    PROFILERS_MAX = 40, /* configurations; those for --systematic come on top */
    PROFILERS_SAMPLES_MAX = 100000000
};
#define PROFILERS_PERIOD_MAX (UINT64_C(1) << 40)

struct profilers {
    struct run run;
    struct profile_options profiles[2 * PROFILERS_MAX]; /* those asked for; one of every cycle
                                                                of each profiler for --systematic */
    char *labels[PROFILERS_MAX];                        /* of those asked for; own */
    uint32_t count;
    bool systematic;
    char *lists; /* all LISTs so far, separated by commas; own */
    struct sampler_options sampling;
    bool samples_given, period_given;
    struct comparison comparison;
    struct path_errors path_errors;
};

/* Once options are known: the configurations of the lists, or all profilers. */
void profilers_choose(const struct argp_state *state, struct profilers *job);
