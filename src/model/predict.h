/* Runs a trace, live or from a file, through the hybrid model: every guest thread through caches of
 * its own, once per prefetcher, and what they tell through the model of every processor asked for.
 *
 *     trace ──► selection ──► data trace per thread and prefetcher ──► hybrid model, many lanes
 *                        └──► cores with and without long misses (predict_check.h), to compare
 *
 * Threads share nothing, as in simulate/simulate.h; what each loses is summed. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "machine/machine.h"
#include "model/data_trace.h"
#include "model/hybrid.h"
#include "simulate/selection.h"
#include "trace/trace.h"
#include "util/error.h"
#include "util/watcher.h"

/* A way to use the model; the processor's sizes are filled in from a machine. */
struct predict_method {
    bool pending_hits;
    bool ignore_mshrs; /* as if there were no limit */
    enum hybrid_windows windows;
    enum hybrid_compensation compensation;
    double fixed;
    uint32_t parts;
};
/* "none", "distance", "window"; or by a fixed part of the reorder buffer: "oldest", "1/4", "1/2",
 * "3/4", "youngest". False: it is none of these. */
bool predict_method_compensate(struct predict_method *method, const char *name);
/* The parts of the analysis of prefetches, in letters: "ac". False: there is another letter. */
bool predict_method_take_parts(struct predict_method *method, const char *letters);

/* The refinements of the chapter, each with all those before it: plain windows, compensation
 * (first, since what pending hits add and what is not hidden otherwise make up for each other),
 * pending hits, SWAM, SWAM-MLP; and last, in place of them all, the sliding reorder buffer. */
enum { PREDICT_REFINEMENTS = 6 };
extern const struct predict_method predict_refinements[PREDICT_REFINEMENTS];
extern const char *const predict_refinement_names[PREDICT_REFINEMENTS];

/* The configuration of a method on a machine: reorder buffer, the narrower of dispatch and commit,
 * memory latency (of a row that is not open, when memory has banks), the fewest MSHRs of a data
 * cache, store queue. False with an error: the model cannot be of this machine. */
bool predict_config(const struct machine *machine, const struct predict_method *method,
                    struct hybrid_config *config, struct error *error);

/* Instructions of a trace: so many are passed over, so many more warm caches, and so many behind
 * them are predicted. */
struct predict_part {
    uint64_t skip, warm;
    uint64_t length; /* 0: all there are; nothing is skipped and warmed */
};

struct predict_options {
    const struct machine *machines; /* of one kind of caches: sizes of caches are the first's; other
                                       prefetchers, cores that fuse alike, and memories */
    uint32_t machine_count;
    const struct predict_method *methods;
    uint32_t method_count;
    bool check; /* simulate every machine as well */
    struct selection selection;
    struct predict_part part; /* of what is selected */
    struct watcher watcher;
};

/* Of a machine, all threads together. */
struct predict_machine {
    struct data_counts counts;          /* with its prefetchers */
    uint64_t cycles, cycles_ideal_long; /* simulated: as it is, and with long data misses ideal */
};

struct hybrid_prediction {
    uint64_t instructions;
    uint32_t threads;
    struct predict_machine *machines; /* as in the options */
    struct hybrid_result *results;    /* [machine × method_count + method] */
    double seconds;                   /* wall time */
    double model_seconds;             /* of it, in caches and model; the rest reads the trace or
                                         simulates */
    bool interrupted;
};

/* Until the trace ends, the selection is complete or `stop` is set. hybrid_prediction_free() either
 * way.
 */
bool predict(struct trace *trace, const struct predict_options *options,
             struct hybrid_prediction *prediction, struct error *error);
void hybrid_prediction_free(struct hybrid_prediction *prediction);

/* Cycles per instruction that long data misses cost: predicted, and simulated. */
static inline double predicted_cpi(const struct hybrid_prediction *prediction,
                                   const struct hybrid_result *result) {
    return prediction->instructions ? result->cycles / (double)prediction->instructions : 0;
}
static inline double simulated_cpi(const struct hybrid_prediction *prediction,
                                   const struct predict_machine *machine) {
    return prediction->instructions
               ? ((double)machine->cycles - (double)machine->cycles_ideal_long) /
                     (double)prediction->instructions
               : 0;
}
