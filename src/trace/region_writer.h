/* Definitions of the processes that regions lie in, kept while the capture runs; and the trace of
 * one region, which takes from them what it needs, numbered anew. */
#pragma once

#include "trace/kept_code.h"
#include "trace/region_stream.h"

/* ---- kept definitions ---- */

struct kept_process {
    struct item_process process; /* strings owned */
    struct kept_code code;
    struct item_image *mappings; /* paths owned */
    size_t mapping_count, mapping_capacity;
    struct item_python *python; /* functions, strings owned */
    size_t python_count, python_capacity;
};

/* NULL: out of memory. */
struct kept_process *kept_process_new(const struct item_process *process);
bool kept_process_code(struct kept_process *process, const struct item_code *code);
bool kept_process_image(struct kept_process *process, const struct item_image *image);
bool kept_process_python(struct kept_process *process, const struct item_python *python);
void kept_process_free(struct kept_process *process);

/* ---- the trace of one region ---- */

struct region_writer_thread {
    uint32_t ordinal; /* in its process, in order of creation */
    uint64_t first;   /* instructions that it had executed before those of the trace */
    uint64_t insns;   /* in the trace */
    uint64_t before;  /* of them, before the region */
    bool met;
    bool gap; /* some are missing before what comes next */
    bool ended;
};

struct region_writer {
    struct file_writer *file;     /* NULL: closed, or not to a file */
    struct region_stream *stream; /* in its place; NULL: closed, or to a file */
    const char *path;             /* the caller's */
    const struct kept_process *process;
    uint32_t *blocks; /* by the process's number: 0 not yet entered, else 1 + its number here */
    size_t block_capacity;
    uint32_t block_count;
    bool *mapped; /* by the process's mapping: told of */
    size_t mapped_capacity;
    uint32_t *images; /* the captured numbers, by number here */
    size_t image_count, image_capacity;
    struct region_writer_thread *threads; /* by number here; the first is the region's */
    size_t thread_count, thread_capacity;
    uint32_t *thread_numbers; /* by the captured number: 0 not yet met, else 1 + its number here */
    size_t number_capacity;
    uint64_t most_others; /* instructions of other threads, before the region as well as in it */
    uint64_t others;      /* there are, before the region, then in it */
    bool others_cut;      /* there were more in it */
    bool started;
    uint64_t *events;
    size_t event_capacity;
    size_t python; /* functions of the process that are told of */
};

/* To `stream`, whose writer it is from now on, or into a file at `path`. `process` must outlive the
 * writer, but may grow. */
bool region_writer_open(struct region_writer *writer, const char *path, bool compress,
                        struct region_stream *stream, const struct item_header *header,
                        const struct kept_process *process, uint64_t most_others,
                        struct error *error);
static inline bool region_writer_is_open(const struct region_writer *writer) {
    return writer->file || writer->stream;
}
/* Events of a chunk's thread that belong to it. */
struct chunk_events {
    const struct thread_event *items;
    size_t count;
};
/* A chunk of the region's own thread, or of another of the process, which is left out, with its
 * events, when its instructions would be too many. */
bool region_writer_data(struct region_writer *writer, const struct item_data *data,
                        struct chunk_events events, bool own, struct error *error);
/* The region begins here, for all threads but its own: that is cut by its instructions. */
void region_writer_start(struct region_writer *writer);
/* Nothing of the thread, a captured number, follows. */
bool region_writer_thread_ended(struct region_writer *writer, uint32_t thread, struct error *error);
/* Threads that have executed something in the trace. */
uint32_t region_writer_thread_count(const struct region_writer *writer);
/* The trace is whole. `thread_ended`: nothing of the region's thread follows. */
bool region_writer_close(struct region_writer *writer, const char *note, bool thread_ended,
                         uint64_t *bytes, struct error *error);
/* Removes the trace; may be called on a writer that is all zero or closed. */
void region_writer_discard(struct region_writer *writer);
