/* A slice begins with a chunk, and a chunk is seen before it is decoded. */
#include "study/first_calls.h"

#include <stdlib.h>

#include "study/trace_starts.h"

struct first_calls {
    struct chunk_profile *profile;
    struct stack_starts *starts;
    bool any, threaded;
    uint32_t thread; /* of the last slice */
    uint64_t first;  /* likewise: where it begins */
};

struct first_calls *first_calls_new(struct chunk_profile *profile,
                                    const struct path_extents *extents, bool data) {
    struct first_calls *calls = calloc(1, sizeof *calls);
    if (!calls || !(calls->starts = stack_starts_new(extents, data))) {
        free(calls);
        return NULL;
    }
    calls->profile = profile;
    return calls;
}

void first_calls_free(struct first_calls *calls) {
    if (!calls)
        return;
    stack_starts_free(calls->starts);
    free(calls);
}

bool first_calls_chunk(void *context, const struct trace_chunk *chunk, struct error *error) {
    struct first_calls *calls = context;
    uint64_t first;
    if (!chunk_profile_chunk(calls->profile, chunk, error))
        return false;
    calls->threaded |= chunk_profile_threaded(calls->profile);
    if (!chunk_profile_begins(calls->profile, chunk->thread, &first) ||
        (calls->any && calls->thread == chunk->thread && calls->first == first))
        return true;
    calls->any = true;
    calls->thread = chunk->thread;
    calls->first = first;
    return stack_starts_want(calls->starts, chunk->thread, first) ||
           error_set(error, "out of memory for call paths");
}

bool first_calls_see(struct first_calls *calls, const struct code *code,
                     const struct trace_batch *batch) {
    return calls->threaded || stack_starts_see_batch(calls->starts, code, batch);
}

bool first_calls_end(struct first_calls *calls, const struct code *code) {
    return calls->threaded || stack_starts_end(calls->starts, code);
}

const struct stack_starts *first_calls_starts(const struct first_calls *calls) {
    return calls && !calls->threaded ? calls->starts : NULL;
}
