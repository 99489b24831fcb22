/* The slices of a run and their basic block vectors, while the run is captured: from the chunks of
 * events or of counts, undecoded (trace_watch). Vectors are projected as they come and slices grow
 * with the run, so that memory does not.
 *
 * A slice is made of whole chunks, so it is longer than asked for by up to some hundred thousand
 * instructions; its exact place is kept, and no slice reaches from one program into the next that
 * exec put in its place. Only the first thread is profiled; that a run has more, or children, is
 * reported. */
#pragma once

#include "region/projection.h"
#include "region/slices.h"
#include "trace/trace.h"

struct chunk_profile_settings {
    uint64_t slice;      /* instructions, at first */
    uint64_t longest;    /* slices double, up to this ... */
    size_t most_slices;  /* ... whenever there are more than so many; even */
    uint32_t dimensions; /* of the projection */
    uint64_t seed;       /* likewise */
};
#define CHUNK_PROFILE_DEFAULTS                                                                     \
    ((struct chunk_profile_settings){                                                              \
        .slice = 250000, .longest = 1000000, .most_slices = 4096, .dimensions = 15, .seed = 1})

/* What the capture may count in place of events, beyond so many instructions. */
static inline struct capture_counts
chunk_profile_counts(const struct chunk_profile_settings *settings, uint64_t from) {
    return (struct capture_counts){from, settings->slice, settings->longest, settings->most_slices};
}

struct chunk_profile;
/* `trace` must outlive it. NULL: out of memory. */
struct chunk_profile *chunk_profile_new(const struct trace *trace,
                                        const struct chunk_profile_settings *settings);
void chunk_profile_free(struct chunk_profile *profile);

/* The next chunk of the trace; for trace_watch(), with the profile as context. */
bool chunk_profile_chunk(void *profile, const struct trace_chunk *chunk, struct error *error);

/* Where the slice begins that the last chunk was of: instructions of its thread before it. False:
 * the thread is not the one that is profiled. */
bool chunk_profile_begins(const struct chunk_profile *profile, uint32_t thread, uint64_t *first);

/* Instructions in the chunks so far. */
uint64_t chunk_profile_instructions(const struct chunk_profile *profile);
/* Chunks came from more than one thread: the slices are of the first alone. */
bool chunk_profile_threaded(const struct chunk_profile *profile);
/* Of more than one process. */
bool chunk_profile_has_children(const struct chunk_profile *profile);
/* The thread's first `position` instructions are in the chunks so far. */
bool chunk_profile_reached(const struct chunk_profile *profile, uint32_t thread, uint64_t position);

/* The process of the first thread: the last program that exec put in its place, whose blocks alone
 * are known. */
uint32_t chunk_profile_process(const struct chunk_profile *profile);
/* Whether exec did that. */
bool chunk_profile_has_exec(const struct chunk_profile *profile);
/* How often that thread executed a static instruction of the trace, in the chunks so far. */
uint64_t chunk_profile_executions(const struct chunk_profile *profile, uint32_t insn);

/* Completes the last slice. What is handed out is the profile's, and final: the same every time. */
bool chunk_profile_finish(struct chunk_profile *profile, const struct projection **slices,
                          const struct slice_table **table, struct error *error);
