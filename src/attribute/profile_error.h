/* How far a profile is from the truth (paper B §4), how much of that chance alone explains, and how
 * well counts of events tell their cost (Fig. B.7). Pure functions over cells of a profile.
 *
 * Both profile and reference are first reduced to the grain of interest and to the events that the
 * profiler supports; then the error is E = (T_total − Σ_i Σ_j min(C_ij, C_ij^ref)) / T_total, with
 * the profile scaled to the reference's T_total. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attribute/attribute.h"

enum grain { GRAIN_FUNCTION, GRAIN_BASIC_BLOCK, GRAIN_INSTRUCTION, GRAIN_COUNT };
const char *grain_name(enum grain grain); /* "function", "basic_block", "instruction" */

/* Cells by (unit of the grain, signature): sorted, each pair once. */
struct reduced_profile {
    struct pics_cell *cells; /* insn holds the unit */
    uint64_t count;
    uint64_t total; /* units of 1/840 cycle */
};

/* unit_of: unit of each static instruction, all < unit_count; NULL: each instruction is a unit of
 * its own. Instructions from unit_of_count on are units of their own behind all others. `events`:
 * signatures are masked to these; 0 leaves a profile without stacks. The caller calls
 * reduced_profile_free(). False when memory is out. */
struct units {
    const uint32_t *unit_of;
    uint32_t unit_of_count, unit_count;
};
bool profile_reduce(const struct pics_cell *cells, uint64_t count, const struct units *units,
                    uint32_t events, struct reduced_profile *reduced);
void reduced_profile_free(struct reduced_profile *reduced);

/* 0 (the same) to 1 (nothing in common, or no sample at all). Exact: integers up to the last
 * division. 0 when the reference is empty. */
double profile_error(const struct reduced_profile *profile,
                     const struct reduced_profile *reference);

/* K = (Σ √p_i)² over the shares p_i of the reference's cells: how many equally costly cells would
 * be as hard to sample. 0 of an empty reference. */
double profile_spread(const struct reduced_profile *reference);

/* The error to be expected of `samples` independent samples that all hit the right cell:
 * ½ Σ E|p̂_i − p_i| ≈ ½ √(2/π) √(K/N) = 0.4 √(K/N), at most 1. */
double error_floor(double spread, uint64_t samples);
/* The samples it takes for that to be `floor` (> 0), rounded up. */
uint64_t error_samples(double spread, double floor);

/* Pearson's r of n pairs; NaN when n < 2 or one of the two does not vary. */
double pearson_correlation(const double *x, const double *y, size_t n);
