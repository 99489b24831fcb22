/* Inside of this room: the queue of regions (regions.c), and what is done with each
 * (region_pass.c). */
#pragma once

#include <pthread.h>

#include "simulate/regions.h"
#include "trace/trace_twice.h"
#include "util/arena.h"

/* Regions that are warm already, when they are chained: then one thread warms, one simulates. */
enum { REGIONS_AHEAD = 2 };

struct task {
    struct region_trace region; /* name and path are its own */
    struct trace_twice *file;   /* it comes from, from its first pass to its last; NULL: no file */
    bool warm;                  /* `start` is what is known at its start */
    struct core_learned start;
    struct branch_outcomes outcomes; /* of the region, when chained: the start's predictor says them
                                      */
    bool done;
    uint64_t warmed;
    struct slice_record record;
    uint64_t *units;        /* by performance signature */
    struct simulation part; /* when what it stands for may change; its instructions are numbered */
    uint32_t *numbers;      /* in the union by these; NULL: nothing is kept */
};

struct region_run {
    struct region_run_options options;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* there are more tasks, or no more will come */
    struct task **tasks;
    size_t task_count, task_capacity, taken;
    size_t warmed;  /* tasks, when chained */
    bool complete;  /* no more will come */
    bool abandoned; /* nothing more is begun */
    bool failed;
    struct error error; /* of the first that failed */
    uint64_t stamped;   /* bytes of time stamps of regions that are not yet warm */
    uint64_t instructions;
    double started;
    struct code_union *code;
    struct code_symbol *symbols; /* of the code of regions, until it is named; names in the arena */
    size_t symbol_count;
    struct arena names;
    struct combination *combination;
    struct core_learned learned; /* by the regions warmed so far, of one program, when chained */
    uint32_t learned_process, learned_thread;
    uint64_t learned_to;      /* of its instructions */
    struct core_learned room; /* of a region that was simulated, for another */
    uint32_t parts;           /* simulations added as such */
    uint32_t levels;
    struct sampling_spread spread; /* of them */
    pthread_t *threads;
    uint32_t thread_count;
    bool crowded; /* no processors are left for simulations to use more threads */
};

/* Under the lock: nothing more is to be done. */
bool region_run_stopped(const struct region_run *run);
/* Warms a region, unless that is done; and simulates it, and adds it to the sum. */
bool region_warm(struct region_run *run, struct task *task, struct error *error);
bool region_simulate(struct region_run *run, struct task *task, struct error *error);
/* The paths and data of a simulation whose code is in the union by these numbers. */
bool region_number_paths(struct region_run *run, struct simulation *simulation,
                         const struct code *code, const uint32_t *numbers, uint32_t thread,
                         struct error *error);
