/* Commands, each run under several layouts of its memory (trace/memory_layout.h), so that what
 * layout alone does to its cycles is known: two builds of a program under the same layouts, or one.
 *
 *     run.inputs[0] under layout 0, 1, 2 ... ──► simulated, some at once ──► take(), one at a time
 *
 * A run of up to `over` instructions is simulated in full under each layout. Of a longer one
 * regions are chosen once, as study/explain.h does under layout 0, and under each other layout the
 * same regions are found by their markers, which do not depend on where code lies. Where a run
 * cannot be explained by regions (it starts processes, changes the world) it is sampled
 * systematically under each layout, at the same places of the run.
 *
 * All runs read the same standard input; what they write goes nowhere. Runs that are made at once
 * work on the same files. */
#pragma once

#include "study/explain.h"
#include "study/simulated_run.h"

enum { LAYOUTS_MOST = 1000, LAYOUTS_INPUTS = 2 };

/* One run, valid while it is taken. */
struct layout_result {
    unsigned input;
    uint32_t layout;
    const struct simulation *simulation; /* its seconds are not told of */
    const struct code *code;
    const struct machine *machine;
    const char *command;
    bool limited; /* not all of the run */
    struct trace_exit exit;
    const struct trace *trace;             /* NULL: not all of the run was captured */
    const struct explanation *explanation; /* of layout 0 by regions; else NULL */
};

struct layouts_run {
    /* Set before. */
    struct watch *watch;
    const struct machine_choice *machines;
    struct input_options inputs[LAYOUTS_INPUTS]; /* commands; they are fixed, whether or not these
                                                    say so */
    const char *relinks[LAYOUTS_INPUTS];         /* how the program is linked anew for each layout
                                                    (study/relinked.h), and then simulated in full; NULL: it
                                                    is not */
    uint32_t input_count;
    uint32_t count; /* layouts, 1 to LAYOUTS_MOST */
    uint32_t jobs;  /* runs at once; 0: one for each processor */
    struct together_request threads;
    uint32_t ideal;
    uint64_t over; /* instructions; longer runs are explained by regions; UINT64_MAX: none is */
    uint64_t kept; /* as of explanation_request; likewise the next four */
    uint64_t warm_up;
    bool simulate_warm_up;
    uint32_t regions;
    bool enough;
    /* Takes what came of a run before it is freed: one at a time, in any order, on any thread.
     * False with an error ends the study. */
    bool (*take)(void *context, const struct layout_result *result, struct error *error);
    void *context;

    int failed; /* why a command could not be run, as an exit status; 0: it could */
    int signal; /* that ended it before all runs were made; 0: none did */
    uint32_t taken[LAYOUTS_INPUTS]; /* runs of each input */
    uint32_t lost;                  /* runs by regions that went another way, and are not taken */
};

/* An interrupt is no error once a run has been taken. */
bool layouts_run_go(struct layouts_run *run, struct error *error);
