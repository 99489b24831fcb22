/* The regions of a list cut out of the trace of the whole run that they were chosen from: where
 * each begins is known what was called, and allocated, before it.
 *
 *     whole_trace_read() ──► whole_trace_starts() for region_run_new() ──► whole_trace_cut() */
#pragma once

#include "attribute/stack_starts.h"
#include "region/regions.h"
#include "simulate/regions.h"
#include "study/study.h"

struct whole_trace {
    struct watch *watch;
    const char *path;               /* of the trace */
    const struct region_list *list; /* read from `list_path` */
    const char *list_path;

    struct trace *trace;         /* read to its end: its code is that of the starts */
    struct stack_starts *starts; /* NULL: call paths are not asked for */
    char *folder;                /* of the regions' traces; temporary */
};

/* Of a regular file, read to its end. `extents`: tell of call paths, and of data with `data`; NULL:
 * not. An error when the list's regions are of another run, or of several threads. What `whole` is
 * given outlives it; whole_trace_free() either way. */
bool whole_trace_read(struct whole_trace *whole, const struct path_extents *extents, bool data,
                      struct error *error);
/* Cuts the regions out, with so many instructions before each to warm up, and adds them to the run
 * with what each `shares` stands for: an array as region_list_shares() returns. */
bool whole_trace_cut(struct whole_trace *whole, struct region_run *run, uint64_t warm_up,
                     const uint64_t *shares, struct error *error);
/* After the run is freed. */
void whole_trace_free(struct whole_trace *whole);
