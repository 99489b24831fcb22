/* Inside of this room: a capture of regions. region_capture_start.c begins and ends it,
 * region_capture.c reads its items, region_capture_before.c tells what comes before regions. */
#pragma once

#include "trace/region_capture.h"

#include <signal.h>

#include "trace/event_queue.h"
#include "trace/held_chunks.h"
#include "trace/item.h"
#include "trace/region_source.h"
#include "trace/region_windows.h"
#include "trace/region_writer.h"
#include "util/arena.h"

struct region_capture {
    struct code_symbol *symbols; /* of anonymous code; names in the arena */
    size_t symbol_count;
    struct arena names;
    struct region_capture_options options;
    struct item_source source;
    bool started;
    struct region_windows windows;
    struct region_writer *writers; /* by region */
    struct held_chunks *held;      /* with `before`: by thread of the windows */
    struct capture_marker *markers;
    uint32_t *marked; /* by marker: 2 × region, and 1 for its end */

    struct item_header header; /* strings owned */
    struct process_of_run {
        struct kept_process *kept; /* NULL: no region lies in it */
        uint32_t number;           /* as regions have it; UINT32_MAX: none */
    } * processes;                 /* by number in this run */
    size_t process_count, process_capacity;
    uint32_t *threads; /* by number in this run: as regions have it, or one of these */
    size_t thread_count, thread_capacity;
    struct event_queue events; /* of threads, until the chunk that they belong to comes */
    struct thread_event *taken;
    size_t taken_capacity;
    struct chunk_events chunk_events; /* of the chunk that is looked at: among those taken */
    bool image_seen;                  /* one that a marker lies in was mapped */
    bool enough;
    size_t paused_before; /* 1 more than the place of the region that the last pause ends before */
    volatile sig_atomic_t interrupted;
    struct trace_exit exit;
    struct region_capture_progress progress;
};

/* The error is set. Always false. */
bool region_capture_out_of_memory(struct error *error);
bool region_capture_changed(const char *path, struct error *error);

/* ---- region_capture_before.c ---- */

/* A chunk of the thread in which none of the regions that are told what comes before them begins.
 */
bool region_capture_hold(struct region_capture *capture, const struct region_thread *thread,
                         const struct item_data *data, struct error *error);
/* No region of the thread is told anything now. */
void region_capture_hold_nothing(struct region_capture *capture,
                                 const struct region_thread *thread);
/* What is held, and the chunk in which the region begins. */
bool region_capture_tell_held(const struct region_capture *capture,
                              const struct region_thread *thread,
                              const struct capture_region *region, const struct item_data *data,
                              struct error *error);
/* What is held, to the trace that was opened. */
bool region_capture_write_held(const struct region_capture *capture,
                               const struct region_thread *thread, struct capture_region *region,
                               struct region_writer *writer, struct error *error);
