/* How far an estimate from regions is off, and why: the validation of PinPoints §3.3, with the full
 * run simulated on the same machine, so that no error of the model mixes in.
 *
 *     whole ──────────► within ──────────► alone
 *           choice               cold start
 *
 * whole: all instructions of the full run. within: the regions as they were within the full run,
 * weighted; what differs is the error of having chosen them to stand for the rest. alone: each
 * region simulated by itself after a warm-up, weighted; what differs from `within` is the effect of
 * the cold start, and from `whole` the error in all. */
#pragma once

#include "region/regions.h"
#include "simulate/regions.h"
#include "simulate/simulate.h"
#include "trace/trace.h"
#include "util/watcher.h"

/* Figures per instruction; the cycles of states and of parts each sum to the CPI. */
enum {
    METRIC_CPI,
    METRIC_STATES,                              /* cycles in commit states */
    METRIC_PARTS = METRIC_STATES + STATE_COUNT, /* cycles by event, parts as in slicing.h */
    METRIC_MISSES = METRIC_PARTS + PART_COUNT,  /* per 1000 instructions: */
    METRIC_BRANCHES = METRIC_MISSES,
    METRIC_L1I,
    METRIC_L1D,
    METRIC_L2,
    METRIC_LLC,
    METRIC_ITLB,
    METRIC_DTLB,
    METRIC_COUNT
};

struct metrics {
    double values[METRIC_COUNT];
};
void metrics_of(const struct slice_record *record, struct metrics *metrics);

/* Hardware counters of the command, when the machine has them. */
struct hardware_reference {
    bool known;
    uint64_t instructions, cycles; /* in user mode */
};

/* All regions alone, with one length of warm-up. */
struct validation_trial {
    uint64_t warm_up; /* instructions, at most; UINT64_MAX: all before it */
    bool captured;    /* from the regions' own traces; else cut out of the full one */
    struct metrics metrics;
    double *cpi;      /* by region */
    double warmed;    /* instructions before a region that warmed, on average */
    uint32_t largest; /* region whose CPI is farthest from that within the full run */
};

enum { VALIDATION_MAX_TRIALS = 17 };

struct validation {
    const struct region_list *list; /* the caller's */
    uint64_t instructions, cycles;  /* of the full run */
    uint32_t threads;
    double seconds; /* that its simulation took */
    struct metrics whole, within;
    double *cpi;        /* by region, within the full run */
    uint64_t simulated; /* instructions of all regions */
    struct validation_trial trials[VALIDATION_MAX_TRIALS];
    uint32_t trial_count;
};

struct validation_options {
    const struct machine *machine;
    uint32_t ideal, jobs;
    struct watcher watcher; /* told the instructions of the step */
    /* Adds regions alone to a run, in place of region_run_add() for each. NULL: that does. */
    bool (*add)(void *context, struct region_run *run, const struct region_trace *regions,
                size_t count, struct error *error);
    void *add_context;
};

/* Simulates the full run from a trace file and looks at the regions within it. Weights are taken so
 * that they sum to 1. Fails, naming it, when a region does not lie in the trace. validation_free()
 * either way; list and options outlive it. */
bool validation_full(struct validation *validation, const struct region_list *list,
                     const char *trace, const struct validation_options *options,
                     struct error *error);

/* Then: simulates each region alone and adds a trial: cut out of `trace`, the full one; or, when
 * NULL, from the traces that the list names, read from `list_path`. At most VALIDATION_MAX_TRIALS
 * times. */
bool validation_alone(struct validation *validation, const char *trace, const char *list_path,
                      uint64_t warm_up, const struct validation_options *options,
                      struct error *error);

void validation_free(struct validation *validation);

/* The relative error of a figure; 0 when both are 0. */
double validation_error(double estimate, double truth);
