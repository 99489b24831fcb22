/* How far an estimate from regions may be off: stratified sampling (Cochran 1977 §5.6). A cluster
 * is a stratum; it is cut in time into parts of about the same length, and of each part one slice
 * is drawn, so that the regions of a cluster are spread over the run.
 *
 * What the slices of cluster h differ by is told from regions that follow one another in it (von
 * Neumann 1941; Wolter 2007 §8.2.1: one drawn per part), with y the figure per instruction:
 *
 *     s_h² = Σ (y_i − y_i+1)² / (2 (n_h − 1))
 *     Var(total) = Σ_h s_h² Σ_i W_i² (1 − w_i / W_i)
 *
 * where region i has w_i instructions and stands for W_i. Degrees of freedom are 2 (n_h − 1)² /
 * (3 n_h − 4) for a cluster, and Satterthwaite's for the sum. A cluster with one region of several
 * slices is taken to differ, in proportion to its cycles per instruction, as the others do
 * together.
 *
 * What all regions have in common does not show in differences between them: they begin and end
 * with an empty pipeline, and nothing is known of which loads have to wait for stores. That is 0.3
 * % of all cycles, added to both sides, and of any component as well, since it is not known which
 * one has it: of seven programs in eight it was at most 0.22 % (docs/results/cold-start.md, 100
 * million instructions of warm-up). That does not include caches which too short a warm-up left
 * colder. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "attribute/attribute.h"
#include "tap/tap.h"

#define ESTIMATE_SHARED 0.003

/* A region that was simulated, in the order of the run. */
struct region_sample {
    uint32_t cluster, thread;
    uint64_t first; /* instruction of the thread */
    uint64_t instructions, stands_for;
    uint64_t cycles;
    uint64_t states[STATE_COUNT];     /* cycles */
    uint64_t units[PSV_COMBINATIONS]; /* of 1/840 cycle, by performance signature */
};

/* A part of the run of a thread whose slices all are of one cluster. */
struct phase {
    uint32_t thread, cluster;
    uint64_t first, instructions; /* of the thread */
};

/* A figure of a region that adds up over instructions: its cycles, or those of a component. */
typedef double region_figure(const struct region_sample *sample, const void *context);
double region_cycles(const struct region_sample *sample, const void *nothing);

/* Half of the 95 % interval of the figure for all that the regions stand for. 0: each stands for
 * itself alone. −1: not known, no cluster has two regions. */
double estimate_interval(const struct region_sample *samples, size_t count, region_figure *figure,
                         const void *context);
/* The same without what all regions have in common. */
double estimate_spread(const struct region_sample *samples, size_t count, region_figure *figure,
                       const void *context);
