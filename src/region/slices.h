/* What lies beside a file of basic block vectors ("gzip.bb" has "gzip.bb.slices"): whose slices
 * they are, where in the run each begins, and what the ids of the blocks mean, so that slices can
 * be found again in a later run and ids compared between runs.
 *
 * A text file, a line for each thing, in the order of the run; the first word says what:
 *
 *     culprit-slices 1
 *     isa x86_64
 *     command gzip -9 -c big.tar
 *     size 10000000                        instructions asked for, of a slice
 *     image 0 BUILD-ID|- PATH              number, in hexadecimal, as mapped; before it is named
 *     process 0 PID EXECUTABLE             number, likewise
 *     origin 0 -|FORKER 0 0 COMMAND        process, which one forked it (-: none), the number of
 *                                          that fork among its forks, execs since
 *     thread 0 0 0                         number, process, number among the process's threads
 *     block 1 0 6a2c 5                     id, image|-, offset in the file (hexadecimal; the
 *                                          address when there is no image), instructions
 *     slice 0 0 0 10000003 0 6a2c 1        process, thread, first instruction in the thread,
 *                                          instructions, start marker: image|-, offset, count
 *     end 8190211003                       instructions of all slices together; missing: the
 *                                          file was cut
 *
 * Slices are in the order of the vectors, one each: thread by thread, these by number, and within a
 * thread as they were executed, without overlap. In paths and commands a backslash is written
 * "\\", the end of a line "\n". */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "isa/insn.h"
#include "util/error.h"
#include "util/stream.h"

enum { MARKER_NO_IMAGE = UINT32_MAX };

struct region_image {
    char *path;
    uint8_t build_id[20];
    uint8_t build_id_size; /* 0: none */
};

/* A point in the run of one thread: just before it executes the instruction for the `count`-th time
 * (PinPoints §3.1). In the thread, not the process; from 1. */
struct region_marker {
    uint32_t image; /* MARKER_NO_IMAGE: code that lies in no file */
    uint64_t offset, count;
};

static inline bool region_image_same(const struct region_image *a, const struct region_image *b) {
    return a->build_id_size == b->build_id_size &&
           memcmp(a->build_id, b->build_id, a->build_id_size) == 0 && strcmp(a->path, b->path) == 0;
}
/* The index in a growing array of an image, of which a copy is added when it is new; UINT32_MAX:
 * out of memory. */
uint32_t region_images_find(struct region_image **images, size_t *count, size_t *capacity,
                            const struct region_image *image);
void region_images_free(struct region_image *images, size_t count);

struct slice_block {
    uint32_t image;
    uint32_t insn_count;
    uint64_t offset;
};

struct slice_place {
    uint32_t process, thread;
    uint64_t first; /* instruction of the thread, from 0 */
    uint64_t instructions;
    struct region_marker start;
};

struct slice_process {
    uint32_t pid;
    char *executable;
    char *command;                     /* NULL: not known, as the next */
    uint32_t forker, fork, generation; /* as of a capture_process (trace/trace.h) */
};
void slice_processes_free(struct slice_process *processes, size_t count);
struct slice_thread {
    uint32_t thread, process;
    uint32_t ordinal; /* in its process, in order of creation, from 0 */
};

struct slice_table {
    enum isa isa;
    char *command;
    uint64_t size;
    struct region_image *images;
    struct slice_process *processes;
    struct slice_thread *threads; /* of those that have slices; by number; none: not known */
    struct slice_block *blocks;   /* by id − 1 */
    struct slice_place *slices;
    size_t image_count, process_count, thread_count, block_count, slice_count;
    size_t image_capacity, process_capacity, thread_capacity, block_capacity, slice_capacity;
    bool complete; /* the run was seen to its end */
};

/* Fails with file and line on anything not as above. slice_table_free() either way. Memory grows
 * with the file. */
bool slice_table_read(struct slice_table *table, const char *path, struct error *error);
void slice_table_free(struct slice_table *table);

/* ---- to a file, as the run goes on: images, processes and blocks get the next number ---- */

struct slice_writer {
    struct stream stream;
    uint64_t instructions; /* of all slices */
};

/* Makes or empties the file; `path` must outlive the writer. */
bool slice_writer_open(struct slice_writer *writer, const char *path, enum isa isa,
                       const char *command, uint64_t size, struct error *error);
bool slice_writer_image(struct slice_writer *writer, uint32_t number,
                        const struct region_image *image, struct error *error);
bool slice_writer_process(struct slice_writer *writer, uint32_t number,
                          const struct slice_process *process, struct error *error);
/* The process's origin, where it has a command, comes with it. */
bool slice_writer_thread(struct slice_writer *writer, const struct slice_thread *thread,
                         struct error *error);
bool slice_writer_block(struct slice_writer *writer, uint32_t id, const struct slice_block *block,
                        struct error *error);
bool slice_writer_slice(struct slice_writer *writer, const struct slice_place *slice,
                        struct error *error);
/* `complete`: the run was seen to its end. May be called on a writer that is all zero or closed. */
bool slice_writer_close(struct slice_writer *writer, bool complete, struct error *error);
