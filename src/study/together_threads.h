/* Whether the threads of a program are simulated together, on the cores of one chip, and how. */
#pragma once

#include "simulate/simulate.h"

struct together_request {
    bool alone;                          /* each thread as if it had a machine of its own */
    uint32_t cores[TOGETHER_SCALES + 1]; /* the last is what is reported, those before only how long
                                            they take */
    uint32_t core_count;                 /* 0: those of the machine */
    uint32_t slack;                      /* cycles; 0: as simulate/together.h has it */
    struct together_affinity affinity;   /* without groups or turn: any core */
    bool tell_spans;                     /* as of struct together */
    /* Longer runs than so many instructions are simulated by regions; 0: none is. */
    uint64_t over;
    bool in_place_of_sampling; /* threads are simulated together where windows of a single one would
                                  be sampled */
    uint32_t regions;          /* then: as many, or all slices there are */
    uint64_t warm_up;          /* instructions of all threads before each */
    uint64_t slice; /* instructions of a region, of all threads, without those that only wait */
};

/* Regions long enough for what threads do to each other, and as many as take some 20 seconds. */
#define TOGETHER_REGIONS .regions = 160, .warm_up = 15000000, .slice = 500000

/* What the machine and options say, before it is known whether the program has threads: why they
 * would not be simulated together; NULL: they would. */
const char *together_obstacle(const struct together_request *request,
                              const struct simulation_options *options);

/* Of a trace file, before anything is read of it (from a pipe, each thread is alone): sets
 * options->together to `together` if the program has threads, and machine and options allow it.
 * *why: if it has threads and they do not, why not; else NULL. False: an error, of the file. */
bool together_choose(const struct together_request *request, const char *path,
                     struct simulation_options *options, struct together *together,
                     const char **why, struct error *error);

/* After together_choose() and simulation_run() of these options: the other numbers of cores that
 * were asked for, each in a run of its own, go into simulation->together.scales. */
bool together_scale_run(const struct together_request *request,
                        const struct simulation_options *options, struct simulation *simulation,
                        struct error *error);
