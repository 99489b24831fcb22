/* A program that is run again and again by one or many: what a selection takes of a trace file. One
 * of few instructions is read once and held in memory for all who run it; of any other each runner
 * reads the file, anew whenever it begins again. So memory does not grow with the trace; a runner
 * of a small program takes some 800 KB. */
#pragma once

#include <stdbool.h>

#include "simulate/selection.h"
#include "trace/trace.h"
#include "util/error.h"

enum { REPEATED_HELD = 1 << 16, REPEATED_BATCH = 1024 }; /* instructions */

struct repeated;
/* The first guest thread of the trace unless the selection names another. `path` and `selection`
 * are the caller's, and stay. Errors: what cannot be read twice, no addresses, nothing selected. */
struct repeated *repeated_open(const char *path, const struct selection *selection,
                               struct error *error);
void repeated_close(struct repeated *program);
enum isa repeated_isa(const struct repeated *program);

struct runner;
struct runner *runner_new(struct repeated *program, struct error *error);
void runner_free(struct runner *runner);

/* The next instructions, at most REPEATED_BATCH and perhaps none. *ends: they are the last, and the
 * next ones the first again. Both are good until the next call. */
bool runner_next(struct runner *runner, const struct code **code, struct trace_batch *batch,
                 bool *ends, struct error *error);
