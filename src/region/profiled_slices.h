/* Inside of this room: the slices of a run while it is profiled (bbv_profile.h). */
#pragma once

#include "region/bbv_profile.h"
#include "region/slice_files.h"
#include "trace/counts.h"
#include "trace/missed.h"

/* A thread. */
struct profiled {
    bool known, open, ended;
    uint32_t process, ordinal;
    uint64_t position;         /* instructions of the thread so far */
    uint64_t *before, *within; /* executions by id − 1: until the open slice, in it */
    size_t capacity, within_capacity;
    uint32_t *touched; /* ids of those in the open slice that are not 0 */
    size_t touched_count, touched_capacity;
    struct slice_place place;    /* of the open slice */
    struct counts_pace pace;     /* from events */
    uint32_t last;               /* id of the block entered last; 0: none */
    struct missed_blocks missed; /* by id, in the open slice */
    struct execution_place execution;
};

struct profile {
    const struct bbv_profile_options *options;
    struct bbv_profile_result *result;
    struct profile_code code;
    struct execution_counts counts;
    struct slice_files files;
    bool begun;                              /* the files were made */
    uint32_t images_written, blocks_written; /* to the table */
    char *table_path, *command;
    struct profiled *threads;
    size_t thread_count, thread_capacity;
    struct slice_entry *entries;
    size_t entry_capacity;
    struct error *error;
};

/* The error is set. Always false. */
bool profile_out_of_memory(struct profile *profile);

/* A slice of thread `number` begins: the thread is about to enter the block. */
bool slice_begin(struct profile *profile, struct profiled *thread, uint32_t number, uint32_t id);
/* The thread has executed the block so many times. */
bool slice_add(struct profile *profile, struct profiled *thread, uint32_t id, uint64_t times);
/* Instructions of a block that were counted with it in this slice, and not executed. */
bool slice_miss(struct profile *profile, struct profiled *thread, uint32_t id, uint64_t insns);
/* Writes the open slice, if there is one. What was counted in it, or outside of any, counts as
 * executed before the next. */
bool slice_end(struct profile *profile, struct profiled *thread);
/* Writes the blocks up to this id, and their images, to the table: not when they are met, since
 * whether that is before or after a slice is chance. */
bool profile_write_code(struct profile *profile, uint32_t id);
/* The thread executes nothing more. */
bool profiled_end(struct profile *profile, struct profiled *thread);
