/* Runs a trace, live or from a file, through simulated cores and sums up what they did.
 *
 *     trace ──► selection ──► sampling ──► one lane per guest thread ──► struct simulation
 *                                          (core, tap, Oracle, golden reference)
 *
 * Each guest thread has a core of its own, with its own caches and predictors, that shares nothing
 * with the others; cycles are summed over threads. A thread's core is freed when the thread ends,
 * so memory does not grow with the length of the run. Everything here is deterministic but for
 * `seconds` and the interleaving of guest threads. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "attribute/attribute.h"
#include "attribute/call_paths.h"
#include "attribute/commit_summary.h"
#include "attribute/data_profile.h"
#include "attribute/profiler.h"
#include "attribute/time_series.h"
#include "core/core.h"
#include "core/stall_causes.h"
#include "graph/breakdown.h"
#include "graph/category.h"
#include "machine/machine.h"
#include "simulate/details.h"
#include "simulate/estimate.h"
#include "simulate/instruction_observer.h"
#include "simulate/sampling.h"
#include "simulate/selection.h"
#include "simulate/slicing.h"
#include "simulate/together.h"
#include "trace/trace.h"
#include "util/error.h"
#include "util/watcher.h"

/* Whatever else watches the cores: adds its workers to the tap of each. What it attaches may run
 * behind the simulation, on a thread of its own, until detached. */
struct simulation_observer {
    /* A core of a guest thread is made. *state is the observer's, NULL at first. On an error it is
     * detached as well. */
    bool (*attach)(void *context, struct tap_source source, struct tap *tap, void **state,
                   struct error *error);
    /* Its tap is freed. May be NULL. */
    void (*detach)(void *context, void *state);
    /* More static code is known; called before any of it is simulated. May be NULL. */
    bool (*learn)(void *context, const struct code *code, struct error *error);
    void *context;
};

struct element_layout;

enum { GRAPH_CATEGORIES = 9 }; /* those of enum ideal before IDEAL_DLONG, in its order */

struct simulation_options {
    const struct machine *machine;
    uint32_t ideal; /* enum ideal */
    struct sampling sampling;
    struct selection selection; /* of a trace file; a live capture selects by itself */
    const struct simulation_observer *observers;
    uint32_t observer_count;
    const struct instruction_observer *instructions; /* observers of the instructions themselves */
    uint32_t instruction_observer_count;             /* at most INSTRUCTION_OBSERVERS */
    struct watcher watcher;                          /* told after every batch */
    /* What the core of a run of one thread begins with, unless it holds nothing, and what it has
     * learned in the end: for pieces of one run, simulated one after the other. May be NULL. */
    struct core_learned *learned;
    bool one_thread; /* the caller's; else two more when there is a second processor */

    /* Profilers to attach to every core, and how many threads of their own they are spread over;
     * the results do not depend on it. `commit_width` is filled in. Everything must be simulated.
     */
    const struct profile_options *profiles;
    uint32_t profile_count, profile_threads;
    bool observe_commits; /* fill `commits` below; likewise */

    /* With details.extents: what each profile says of the nodes that led to its samples, in
     * `path_profiles` below. */
    bool profile_paths;

    struct simulation_details details;
    /* With details.extents: the calls that this thread begins with, where the first instruction
     * that is simulated comes; what is skipped before it is not looked at. `starts` NULL: none are
     * known.
     */
    struct simulation_start {
        const struct stack_starts *starts;
        const struct stack_start *start; /* NULL: not known */
        uint32_t thread;
    } start;

    bool count_splits; /* fill `splits` below */

    bool series; /* fill `series` below */
    bool graph;  /* fill `breakdown` below from the dependence graphs of all cores */
    /* With these categories; NULL: the standard ones. Their sets of instructions may grow while
     * code becomes known. */
    const struct categories *categories;

    /* Threads share the chip of an out-of-order machine. The trace is a file that nothing was read
     * of; everything is simulated, no slices, no graph. NULL: each thread
     * is alone. */
    const struct together *together;
    /* Accesses go where this puts them, of threads that are each alone. NULL: to their places. */
    const struct element_layout *layout;
    /* Ends, with `threads_met`, when the program makes a thread, within so many instructions;
     * behind them trace_keep_end() is called, for what was kept is not needed. 0: it goes on. */
    uint64_t until_threads;

    /* Record slices of every thread, whose positions count from the first instruction selected;
     * NULL: none. Everything must be simulated. */
    const struct slicing *slicing;
};

struct simulation_profile {
    struct profile_options options;
    struct profile_result result;
};

/* Regions that stand for the whole run (simulate/regions.h). */
struct simulation_regions {
    uint32_t count, simulated;     /* 0: everything stands for itself */
    uint64_t slices;               /* that they were chosen from; 0: not known */
    struct region_sample *samples; /* `simulated` of them, by thread and place; NULL: some are
                                      missing, so that nothing is known of the error */
    struct phase *phases;          /* of the whole run, by thread and place; NULL: not known */
    size_t phase_count;
};

struct simulation_thread {
    uint32_t process;
    bool goes_on;                  /* the process ran another program before (exec) */
    uint64_t instructions, cycles; /* weighted */
};

/* All counts but the first three are weighted: a sampled instruction counts as many as it stands
 * for. When everything was simulated the weight is 1. */
struct simulation {
    uint64_t executed;  /* instructions that the trace had, of those selected; without those that
                           faulted, which do not count anywhere */
    uint64_t simulated; /* of them, on the cycle-level core */
    uint64_t warmed;    /* of them, through caches, TLBs and predictors only */

    uint64_t instructions, uops, cycles;
    uint64_t states[STATE_COUNT];   /* cycles; sum to `cycles` */
    struct core_statistics counted; /* events counted by the cores, in simulated windows only */

    struct pics_cell *cells; /* units per (instruction, signature), sorted; they sum to cycles ×
                                CYCLE_UNITS */
    uint64_t cell_count;
    /* Slots per (instruction, enum slot_class), sorted; they sum to cycles × dispatch_width. NULL:
     * they were not asked for. */
    struct pics_cell *slots;
    uint64_t slot_count;
    uint64_t *executions; /* per static instruction */
    uint32_t execution_count;
    uint64_t *splits; /* likewise, as many: loads and stores that lie in two lines of the L1D, or
                         stores in two blocks (core.store_block), but for repeated string
                         instructions. NULL: not counted */

    /* Of cores in order: true causes of all cycles, and what happened to instructions (by static
     * instruction). Regions that are combined have none. NULL: no core was in order. */
    struct stall_cell *stalls;
    size_t stall_count;
    struct stall_events *stall_events;
    size_t stall_event_count;

    struct simulation_profile *profiles; /* as in the options */
    uint32_t profile_count;
    struct profile_result *path_profiles; /* of each, by node (call_path_result node_paths), or NULL
                                           */
    struct profile_group **profile_groups; /* that hold the results */
    uint32_t profile_group_count;
    struct commit_summary commits;

    /* By the calls that led to them: units and instructions sum to those above. */
    struct call_path_result paths;

    /* Cycles of misses by the data they were of. */
    struct data_result data;

    /* Of the GRAPH_CATEGORIES standard categories, or those of the options; `cycles` NULL: not
     * asked for, or no µop was looked at. */
    struct breakdown breakdown;

    struct slice_record *slices; /* by thread and position; together they are the run */
    size_t slice_count, slice_capacity;

    struct simulation_thread *threads; /* by thread number; those never simulated have 0 */
    uint32_t thread_count;

    struct together_result together;
    /* The run in time, where every instruction was simulated; else, and if not asked for, NULL. */
    struct time_series *series;
    struct simulation_regions regions;
    uint32_t levels; /* of sampling that the run reached; 0: everything was simulated */
    struct sampling_spread spread;
    double seconds;   /* wall time until the last instruction */
    bool interrupted; /* by `stop` */
    bool threads_met;
};

/* Runs until the trace ends, the selection is complete or `stop` is set. On an error false, and
 * `simulation` still holds what was done before it. The caller calls simulation_free either way. */
bool simulation_run(struct trace *trace, const struct simulation_options *options,
                    struct simulation *simulation, struct error *error);
void simulation_free(struct simulation *simulation);

/* Half of the 95 % interval of `cycles`, in cycles, from regions and windows that were sampled
 * (estimate.h, sampling.h). 0: everything was simulated; −1: not known. */
double simulation_interval(const struct simulation *simulation);
