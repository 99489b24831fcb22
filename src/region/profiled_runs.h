/* What regions are chosen from: the slices of one run or of several, as points and as places in the
 * runs. A file of vectors that has a table beside it (slices.h) knows threads and markers;
 * SimPoint's and exp-bbv's files have none, and are taken as one thread without markers. */
#pragma once

#include "region/block_ids.h"
#include "region/projection.h"
#include "region/slices.h"

/* A slice, or some of one thread in a row that were merged. */
struct run_slice {
    uint32_t run;
    uint32_t process, thread;
    uint32_t first_slice, slice_count; /* of the run's file */
    uint64_t first, instructions;      /* in its thread */
};

struct profiled_run {
    char *path; /* of its vectors */
    bool has_table;
    struct slice_table table; /* of the slices as they are in the file */
    uint32_t *ids; /* of the blocks of its table, among all runs; NULL: they stay as they are */
    uint64_t instructions;
    size_t first, count; /* its slices in the profile */
};

struct profiled_runs {
    struct projection points;
    struct run_slice *slices; /* points.count of them, in the order of the files */
    size_t slice_capacity;
    struct profiled_run *runs;
    size_t run_count, run_capacity;
    struct block_ids blocks; /* of several runs */
    bool unify;
};

/* `unify`: more than one run will be added, and their ids are to mean the same. */
void profiled_runs_init(struct profiled_runs *profile, uint32_t dimensions, uint64_t seed,
                        bool unify);
/* Adds a run: PATH, and PATH.slices where that exists. Fails when the two are not of one run: other
 * numbers of slices, or of instructions in a slice; and without a table where ids are unified. Of a
 * run that was cut short, what both files have. */
bool profiled_runs_add(struct profiled_runs *profile, const char *path, struct error *error);
/* Each `count` slices in a row of a thread become one; the last of a thread may be of fewer. As if
 * the run had been profiled so, but for rounding: projection is linear. */
void profiled_runs_merge_slices(struct profiled_runs *profile, uint32_t count);
void profiled_runs_free(struct profiled_runs *profile);

/* Reads the files of all runs once more and calls `take` for each slice of the profile, in order,
 * with its blocks: all entries of the set, whatever slices the set has. Stops when that fails, and
 * fails on a file that is not what it was: it was written to, or is a pipe, which can be read only
 * once. */
bool profiled_runs_read_again(const struct profiled_runs *profile,
                              bool (*take)(void *context, size_t slice, const struct bbv_set *set,
                                           struct error *error),
                              void *context, struct error *error);

/* Instructions of all runs. */
uint64_t profiled_runs_instructions(const struct profiled_runs *profile);
