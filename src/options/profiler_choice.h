/* Which profilers a verb runs, each with what it samples: what --profiler and the options beside it
 * say. */
#pragma once

#include "attribute/profiler.h"
#include "options/option.h"

enum {
    PROFILER_CHOICE_MAX = 40, /* configurations; those of every cycle come on top */
    PROFILER_CHOICE_SAMPLES = 100000000
};
#define PROFILER_CHOICE_PERIOD (UINT64_C(1) << 40)

struct profiler_choice {
    /* What options say. */
    char *lists;                     /* separated by commas; NULL: all profilers; own */
    struct sampler_options sampling; /* where a list says nothing else */
    bool systematic;                 /* each profiler also samples every cycle */

    struct profile_options profiles[2 * PROFILER_CHOICE_MAX]; /* `count`, then those of every cycle
                                                                 of each profiler; `all` */
    char *labels[PROFILER_CHOICE_MAX];                        /* of `count`; own */
    uint32_t count, all;
};

/* --profiler LIST, once more. It and the next exit on a mistake, as when there is no memory. */
void profiler_choice_add_list(const struct argp_state *state, struct profiler_choice *choice,
                              const char *list);
/* Once options are known: the configurations of the lists. */
void profiler_choice_make(const struct argp_state *state, struct profiler_choice *choice);
void profiler_choice_free(struct profiler_choice *choice);
