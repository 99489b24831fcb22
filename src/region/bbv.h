/* Basic block vectors: for each slice of a run, how many instructions were executed in each basic
 * block (Sherwood et al. 2002; PinPoints §2.1: executions times instructions).
 *
 * In a file they are SimPoint's text, plain or compressed by gzip: a line `T:id:count :id:count
 * ...` for each slice; lines that begin otherwise say nothing. Ids count from 1. */
#pragma once

#include "util/stream.h"

enum {
    BBV_MAX_SLICES = 1 << 24,       /* of a file that is read */
    BBV_MAX_SLICE_BLOCKS = 1 << 24, /* in one of its slices */
};

/* ---- in memory ---- */

struct bbv_slice {
    size_t first, count;   /* in blocks[] and counts[] of the set */
    uint64_t instructions; /* the sum of its counts, at least 1 */
};

/* Slices one behind the other; a block may come several times in one, in any order. All zero: no
 * slices. What lies behind the last slice belongs to the one being made. */
struct bbv_set {
    uint32_t *blocks; /* ids */
    uint64_t *counts; /* instructions, at least 1 */
    size_t entry_count, block_capacity, count_capacity;
    struct bbv_slice *slices;
    size_t slice_count, slice_capacity;
    uint64_t open_instructions; /* of the slice being made */
};

/* Adds to the slice being made; a count of 0 adds nothing. Fails for id 0, and when the slice has
 * too many blocks or 2^64 instructions. */
bool bbv_set_block(struct bbv_set *set, uint32_t block, uint64_t count, struct error *error);
/* The slice is complete. Fails when it has no instructions. */
bool bbv_set_slice(struct bbv_set *set, struct error *error);
/* No slices any more; the memory stays, for those to come. */
void bbv_set_clear(struct bbv_set *set);
void bbv_set_free(struct bbv_set *set);

/* ---- from a file ---- */

struct bbv_reader;

/* NULL with an error. `path` must outlive the reader. */
struct bbv_reader *bbv_reader_open(const char *path, struct error *error);
/* Adds the next slice to the set. 1; 0 at the end of the file; −1 with an error, which names the
 * line. Memory grows with the slice, not with the file. */
int bbv_reader_next(struct bbv_reader *reader, struct bbv_set *set, struct error *error);
void bbv_reader_close(struct bbv_reader *reader);

/* ---- to a file ---- */

struct gzFile_s;
struct bbv_writer {
    struct stream stream;
    struct gzFile_s *gzip; /* NULL: not compressed */
};

/* Whether a file of this name is to be compressed: it ends in ".gz". */
bool bbv_path_compressed(const char *path);

/* Makes or empties the file; `path` must outlive the writer. A slice is begin, its blocks, end. */
bool bbv_writer_open(struct bbv_writer *writer, const char *path, bool compress,
                     struct error *error);
bool bbv_writer_begin(struct bbv_writer *writer, struct error *error);
bool bbv_writer_block(struct bbv_writer *writer, uint32_t block, uint64_t count,
                      struct error *error);
bool bbv_writer_end(struct bbv_writer *writer, struct error *error);
/* May be called on a writer that is all zero or closed. */
bool bbv_writer_close(struct bbv_writer *writer, struct error *error);
