/* SimPoint's settings judged by recorded costs (paper C §6.2, §6.3): how far the predicted CPI is
 * off, and how many instructions there are to simulate for it. */
#pragma once

#include "region/choose.h"
#include "region/costs.h"

/* What is varied besides the most clusters. */
enum sweep_kind {
    SWEEP_CLUSTERS,   /* nothing: all else as the settings say (Fig. C.7) */
    SWEEP_DIMENSIONS, /* (Fig. C.9) */
    SWEEP_THRESHOLD,  /* (Fig. C.10) */
    SWEEP_COVERAGE,   /* how much of the run, from its beginning, is profiled (Fig. C.8) */
    SWEEP_KINDS
};
extern const char *const SWEEP_NAMES[SWEEP_KINDS];

struct sweep_grid {
    double *values;
    size_t count, capacity;
};

/* "1,2,4" or "FIRST:LAST:STEP", of (whole) numbers from `least` to `most` that grow, in place of
 * what the grid had; `values` is to be freed. */
bool sweep_grid_read(struct sweep_grid *grid, const char *text, double least, double most,
                     bool whole, struct error *error);

struct sweep_settings {
    const struct choose_settings *choose;
    struct sweep_grid max_clusters;        /* whole numbers from 1, growing */
    struct sweep_grid others[SWEEP_KINDS]; /* growing; of SWEEP_CLUSTERS none */
};

/* A program whose costs are known. Its points have at least as many dimensions as are asked for. */
struct sweep_input {
    const struct profiled_runs *runs;
    const struct region_costs *costs;
};

struct sweep_point {
    enum sweep_kind kind;
    uint32_t max_clusters;
    double value;                 /* of what is varied; 0 of SWEEP_CLUSTERS */
    double mean_error, max_error; /* over the inputs, of the true CPI */
    uint64_t instructions;        /* to simulate, of all inputs */
    uint32_t regions;             /* likewise */
    bool mean_front, max_front; /* no point of its kind has less error for no more instructions, or
                                   fewer of them for no more error */
};

struct sweep {
    struct sweep_point *points; /* kind by kind; within one by value, then by most clusters */
    size_t point_count;
    /* The paper's rule (paper C §6.3): of the settings on both fronts, the smallest limit on
     * clusters, or threshold, whose mean error is within a point of the least of all. An index;
     * SIZE_MAX: none is on both fronts. The threshold is that for the recommended limit on
     * clusters, whose outcomes alone make its fronts. */
    size_t recommended_clusters, recommended_threshold;
};

/* `progress`, unless NULL, is called with how many of `total` clusterings are done. sweep_free()
 * either way. */
bool sweep_make(struct sweep *sweep, const struct sweep_settings *settings,
                const struct sweep_input *inputs, size_t input_count,
                void (*progress)(void *context, uint64_t done, uint64_t total), void *context,
                struct error *error);
void sweep_free(struct sweep *sweep);
