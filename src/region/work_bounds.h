/* Where the same work begins in two runs: bounds, chosen in the first run, each expressed by the
 * k-th execution of a marker that survives (region/work_markers.h), and found in the second.
 *
 *     work_bounds_want() ──► a walk through the first run: what is executed at and behind each
 * bound ──► a walk through the second: where that is ──► work_bounds_settle()
 *
 * Of each bound a few markers are noted, those that are executed least often of all that are
 * executed within `patience` instructions: they are the outermost loops and functions, whose
 * executions are most likely to be the same work. Where they are in the second run should agree:
 * the bound is where the marker in the middle of them is. */
#pragma once

#include "region/work_markers.h"

enum { BOUND_MARKERS = 3 };

struct work_bound {
    uint64_t wanted;       /* instructions of the first run before it */
    bool exact;            /* the run's beginning or its end: needs no marker */
    bool found;            /* settled: in both runs */
    uint64_t positions[2]; /* instructions of each run before it */
    uint32_t noted_count;
    struct noted_marker {
        uint32_t marker; /* of work_markers */
        uint64_t time;   /* just before its time-th execution, from 1 */
        uint64_t positions[2];
        bool found;
    } noted[BOUND_MARKERS];
};

struct work_bounds {
    struct work_bound *items; /* ascending by `wanted`, each once */
    size_t count, capacity;
    uint64_t patience; /* instructions */
};

/* Adds a bound; in order. False: out of memory. */
bool work_bounds_want(struct work_bounds *bounds, uint64_t wanted);
/* Both walks are done. A bound that is not behind the one before it, in both runs, is not found. */
void work_bounds_settle(struct work_bounds *bounds);
void work_bounds_free(struct work_bounds *bounds);

/* ---- a walk through a run ----
 *
 * A trace that was profiled is read once more, from a file: blocks and instructions have the same
 * numbers again. */
struct work_walk;
/* `side` 0: notes markers; 1: finds those that were noted. `trace` is opened, and nothing was read;
 * all outlive the walk. NULL: out of memory. */
struct work_walk *work_walk_new(const struct trace *trace, uint32_t process, uint32_t thread,
                                unsigned side, const struct work_markers *markers,
                                struct work_bounds *bounds);
void work_walk_free(struct work_walk *walk);
/* The next chunk; for trace_watch(), with the walk as context. */
bool work_walk_chunk(void *walk, const struct trace_chunk *chunk, struct error *error);
/* Nothing that follows in the trace is looked for. */
bool work_walk_is_done(const struct work_walk *walk);
