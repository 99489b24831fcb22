/* The slices of a run and their basic block vectors, while the run is captured: from the chunks of
 * events, undecoded (trace_watch). Vectors are projected as they come and slices grow with the run,
 * so that memory does not.
 *
 * A slice is made of whole chunks, so it is longer than asked for by up to some hundred thousand
 * instructions; its exact place is kept. One thread is profiled, the first; a run with more is told
 * as such. */
#ifndef CULPRIT_REGION_RUN_PROFILE_H
#define CULPRIT_REGION_RUN_PROFILE_H

#include "region/projection.h"
#include "region/slices.h"
#include "trace/trace.h"

struct run_profile_settings {
    uint64_t slice;      /* instructions, at first */
    uint64_t longest;    /* slices double, up to this ... */
    size_t most_slices;  /* ... whenever there are more than so many; even */
    uint32_t dimensions; /* of the projection */
    uint64_t seed;       /* likewise */
};
#define RUN_PROFILE_DEFAULTS                                                                       \
    ((struct run_profile_settings){                                                                \
        .slice = 1000000, .longest = 8000000, .most_slices = 4096, .dimensions = 15, .seed = 1})

struct run_profile;
/* `trace` must outlive it. NULL: out of memory. */
struct run_profile *run_profile_new(const struct trace *trace,
                                    const struct run_profile_settings *settings);
void run_profile_free(struct run_profile *profile);

/* The next chunk of the trace; for trace_watch(), with the profile as context. */
bool run_profile_chunk(void *profile, const struct trace_chunk *chunk, struct error *error);

/* Instructions in the chunks so far. */
uint64_t run_profile_instructions(const struct run_profile *profile);
/* Chunks came from more than one thread: the slices are of the first alone. */
bool run_profile_threaded(const struct run_profile *profile);

/* Completes the last slice. What is handed out is the profile's, and final. */
bool run_profile_finish(struct run_profile *profile, const struct projection **slices,
                        const struct slice_table **table, struct error *error);

#endif
