/* Writes slices of several threads, as they end, into the two files that have them thread by
 * thread: those of thread 0 at once; the others wait in a temporary file. */
#pragma once

#include <stdio.h>
#include <time.h>

#include "region/bbv.h"
#include "region/slices.h"

struct slice_entry { /* of a vector, by id */
    uint32_t id;
    uint64_t instructions;
};

struct waiting_slice {
    struct slice_place place;
    uint64_t at, count; /* its entries in the temporary file */
};

struct slice_files {
    struct bbv_writer vectors;
    struct slice_writer table;
    time_t flushed;  /* when they were, last */
    FILE *temporary; /* NULL: not needed yet */
    uint64_t temporary_entries;
    struct waiting_slice *waiting;
    size_t waiting_count, waiting_capacity;
    struct slice_entry *entries; /* read back */
    size_t entry_capacity;
};

/* The paths must outlive the files. */
bool slice_files_open(struct slice_files *files, const char *vectors, const char *table,
                      enum isa isa, const char *command, uint64_t size, struct error *error);
bool slice_files_put(struct slice_files *files, const struct slice_place *place,
                     const struct slice_entry *entries, size_t count, struct error *error);
/* Writes what waits, and closes. May be called on files that are all zero or closed. */
bool slice_files_close(struct slice_files *files, bool complete, struct error *error);
