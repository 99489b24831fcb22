/* A trace file that is read twice and decoded once: what the first reader got of it is kept in
 * memory for the second, who then reads on where the first left off. The second does not look at
 * what comes before some instruction: chunks of events before that are not kept, and come out
 * as batches that say how many instructions were passed over (trace_pass()). Memory: the file's
 * definitions, and the events that the first reader got from that instruction on. */
#pragma once

#include "trace/trace.h"

struct trace_twice;
/* `only`: the thread that both readers look at (trace_only()), −1: all. `from`: the instruction
 * of it. NULL with an error, as trace_open() has them. */
struct trace_twice *trace_twice_new(const char *path, int only, uint64_t from, struct error *error);
/* The first reader and, when that is closed and has met no error, the second. */
struct trace *trace_twice_open(struct trace_twice *twice, struct error *error);
/* When no reader is open. May be NULL. */
void trace_twice_free(struct trace_twice *twice);
