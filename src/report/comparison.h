/* Every profiler against Oracle and the golden reference: what `culprit profilers` reports (paper A
 * §5, paper B §5).
 *
 *     simulation + code + profiles ──► comparison_build() ──► comparison_text()
 *                                                         └──► comparison_json()  */
#pragma once

#include "attribute/commit_summary.h"
#include "attribute/profile_error.h"
#include "attribute/profiler.h"
#include "query/code_map.h"
#include "report/path_errors.h"
#include "report/report.h"

/* Errors at each grain, 0 to 1; NaN where there is none. */
struct grain_errors {
    double profile[GRAIN_COUNT]; /* cycles by unit: against Oracle */
    double stacks[GRAIN_COUNT];  /* by unit and signature: against the golden reference */
};

/* One configuration of a profiler. */
struct compared {
    const struct profiler *profiler;
    const char *label; /* as it was asked for: "TIP", "TIP:random,seed=2" */
    struct sampler_options sampling;
    struct profile_result result;
    struct pics_cell *cells; /* of result.pics, sorted */
    uint64_t cell_count;
    struct grain_errors error, floor; /* NaN: no samples */
    struct grain_errors systematic;   /* the error with every cycle sampled; NaN: not asked for */
};

/* How counts of an event tell its cost (Fig. B.7). */
struct event_correlation {
    uint64_t executions; /* µops that committed with it */
    uint64_t units;      /* cycles with it, in 1/840 */
    uint64_t instructions;
    double correlation; /* NaN: not defined */
};

/* A function's cycles by commit category (Fig. A.7). */
struct function_commits {
    const char *image, *name; /* name NULL: no symbol */
    uint64_t offset;
    uint64_t units, categories[CATEGORY_COUNT];
};

/* A costly instruction, and the share of the run that each profiler gives it. Their cycle stacks of
 * it are found by insn_cells(). */
struct compared_insn {
    uint32_t number; /* in struct code */
    const char *image, *function;
    uint64_t offset;
    char text[96];
    double share;   /* Oracle's */
    double *shares; /* of every compared */
};

struct comparison {
    struct report report; /* head and notes only */
    struct code_map map;
    struct compared *rows;
    uint32_t count;
    double spread[GRAIN_COUNT], stack_spread[GRAIN_COUNT]; /* K; of all events */
    uint64_t units[GRAIN_COUNT]; /* how many functions, blocks, instructions took time */
    enum program_class program_class;
    struct event_correlation events[PSV_BITS];
    struct function_commits *functions; /* costliest first */
    uint32_t function_count, function_total;
    struct compared_insn *insns; /* Oracle's costliest first */
    uint32_t insn_count;
    const struct path_errors *paths; /* NULL: not asked for */
};

struct comparison_request {
    const char *const *labels; /* of every profile but those for the systematic part */
    uint32_t count;            /* of them: the first ones of simulation->profiles */
    uint32_t top;              /* functions and instructions; 0: all */
};

/* Simulation, code and program must outlive it. comparison->report is filled beforehand (verb,
 * program, machine ...). comparison_free() either way. */
bool comparison_build(const struct comparison_request *request, const struct simulation *simulation,
                      const struct code *code, struct program *program,
                      struct comparison *comparison, struct error *error);
void comparison_free(struct comparison *comparison);

/* Notes on what the figures rest on (comparison_worth.c). */
bool comparison_add_worth(struct comparison *comparison);

void comparison_text(const struct comparison *comparison, const struct page *page);
bool comparison_json(const struct comparison *comparison, FILE *file, struct error *error);
