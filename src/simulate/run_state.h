/* Inside of this room: a simulation under way, and its guest threads' cores. */
#pragma once

#include "simulate/graph_breakdown.h"
#include "simulate/simulate.h"
#include "simulate/slice_recorder.h"
#include "simulate/top_down_keeper.h"
#include "simulate/workers.h"
#include "util/executor.h"

/* One guest thread and its core. */
struct lane {
    struct lane *next;
    struct tap_source source;
    struct tap *tap;
    struct attached *attached, *followers;
    struct graph_lane *graph; /* or NULL */
    struct call_lane *calls;  /* likewise */
    struct data_lane *data;   /* likewise */
    struct top_down *slots;   /* likewise */
    struct core *core;
    struct stall_causes *causes; /* of a core in order; else NULL */
    uint64_t not_simulated;      /* instructions that were skipped or warmed with since its core
                                    was told of the time that they take */
    bool in_window;
    struct core_statistics at_window;          /* when the window began */
    struct slice_recorder slice;               /* begun when slices are recorded */
    void *instructions[INSTRUCTION_OBSERVERS]; /* their observers' own */
    void *observed[];                          /* each observer's own */
};

struct simulation_state {
    const struct simulation_options *options;
    struct simulation *simulation;
    struct trace *trace;
    double started;      /* seconds of the monotonic clock */
    struct lane *lanes;  /* live ones */
    struct lane **table; /* by thread number; NULL when it has none */
    size_t table_capacity, thread_capacity, execution_capacity, split_capacity;
    struct memory *memory;                   /* of the next core that is made; NULL: its own */
    struct executor *pipeline, *attribution; /* of all cores and of their profiles; or NULL */
    struct tap_bus *bus;
    struct golden *golden;                  /* with Oracle */
    struct workers *workers, *path_workers; /* the last: or NULL */
    struct graph_breakdown *graph;          /* or NULL */
    struct call_paths *calls;               /* or NULL */
    struct data_profile *data;              /* likewise */
    struct top_down_keeper *slots;          /* likewise */
    struct oracle_result sliced;            /* of cores that record slices and are done */
    struct oracle_result collected;         /* what Oracle had when the level began */
    struct pics *total;
    struct stall_causes *causes; /* of cores in order; else NULL */
    struct sampling_step step;
    double window_cycles;
    struct memory_access *moved; /* accesses of a piece, with a layout */
    size_t moved_capacity;
    bool kept_ended;         /* trace_keep_end() was called */
    uint32_t *first_threads; /* by process: the number + 1 of the thread that came first; 0: none
                                has. While a command's trace is kept for threads */
    size_t first_capacity;
    uint32_t insns_known; /* static instructions that the observers know */
};

/* Room in the tables for a thread number. */
bool run_make_room(struct simulation_state *run, uint32_t thread, struct error *error);
/* The core of the batch's thread, made if it is new. NULL: an error. */
struct lane *run_lane_of(struct simulation_state *run, const struct trace_batch *batch,
                         struct error *error);
/* What comes before the core sees a piece of a batch: it is counted and shown to observers. */
bool run_show_piece(struct simulation_state *run, struct lane *lane,
                    const struct trace_batch *piece, struct error *error);
/* The thread has ended: its core's counts are collected and it is freed. */
bool run_lane_end(struct simulation_state *run, uint32_t thread, struct error *error);
/* The core leaves the window that it is in: what it counted there is added, with its weight. */
bool run_end_window(struct simulation_state *run, struct lane *lane, struct error *error);
/* Lets the pipeline run empty and writes the slice down. */
bool run_end_slice(struct simulation_state *run, struct lane *lane, struct error *error);
/* Its core, which is empty, does nothing until this cycle (core_wait_until()). */
bool run_lane_wait_until(const struct lane *lane, uint64_t cycle, struct error *error);
/* Also after a failure all that the core did is counted and has been to the workers. */
bool run_finish_lane(struct simulation_state *run, struct lane *lane, struct error *error);
/* Frees all cores; what they counted has been collected. */
void run_free_lanes(struct simulation_state *run);
/* Adds what the profiles gained to the simulation. */
bool run_collect(struct simulation_state *run, struct error *error);
