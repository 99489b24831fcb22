/* The trace of a region in memory, which is read while it is written: what a file would hold, that
 * need not be coded and decoded for it. One thread writes (trace/region_writer.h), one reads it to
 * warm what the region begins with, and then one reads it again to simulate the region: of what
 * comes before the region the second finds definitions, and how many instructions it passes over
 * (trace_pass()): the events are freed as soon as the first has read them. Memory: the region's
 * events, and what is not yet read, for which the writer looks at region_streams_full(). */
#pragma once

#include "trace/item.h"

/* All streams of a run. */
struct region_streams;
/* NULL: out of memory. Lives until the last of its streams is gone. */
struct region_streams *region_streams_new(void);
void region_streams_free(struct region_streams *streams);

/* Whether the first readers are so far behind that the writer should wait: none waits for it. */
bool region_streams_full(struct region_streams *streams);
/* Waits until that may have changed, at most some hundredths of a second. */
void region_streams_wait(struct region_streams *streams);

/* ---- one region ---- */

struct region_stream;
/* `first`: the region's, as DATA counts instructions. It belongs to the writer and to the reader,
 * and is gone when both have left it. NULL: out of memory. */
struct region_stream *region_stream_new(struct region_streams *streams, uint64_t first);

/* The writer's. Items are copied; but the events of DATA, from malloc(), are taken over. */
bool region_stream_put(struct region_stream *stream, const struct item *item, struct error *error);
/* Nothing follows; the writer has left it. May be NULL. */
void region_stream_end(struct region_stream *stream);

/* The reader's: the first time all of it, waiting for what is to come; then once more what is left.
 * Not twice at a time. NULL on failure. */
struct trace *region_stream_open(struct region_stream *stream, struct error *error);
/* The reader has left it. May be NULL. */
void region_stream_leave(struct region_stream *stream);
