/* The calls that had not returned at some instructions of a trace of one thread, which is read for
 * them. */
#pragma once

#include "attribute/stack_starts.h"
#include "study/second_run.h"
#include "study/study.h"

/* Shows a batch to what is wanted of its thread, in pieces that end where a start is wanted. False:
 * out of memory. */
bool stack_starts_see_batch(struct stack_starts *starts, const struct code *code,
                            const struct trace_batch *batch);

struct trace_starts {
    struct trace *trace; /* whose code `starts` speaks of */
    struct stack_starts *starts;
};
/* Reads a file until the last of the regions begins; the extents outlive the result. After a signal
 * those that were not reached are missing. trace_starts_free() either way. */
bool trace_starts_read(struct trace_starts *starts, struct watch *watch, const char *path,
                       const struct path_extents *extents, const struct given_regions *regions,
                       struct error *error);
void trace_starts_free(struct trace_starts *starts);
