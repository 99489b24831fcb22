/* The calls that have not returned where each slice of a run begins, found while the run is
 * profiled: what is captured is decoded and its calls are followed, to the end of the profile.
 *
 *     first_calls_new() ──► trace_watch(first_calls_chunk) ──► first_calls_see() ──►
 * first_calls_end()
 */
#pragma once

#include "attribute/stack_starts.h"
#include "region/chunk_profile.h"

struct first_calls;
/* `profile` gets the chunks. `data`: also what has been allocated there. NULL: out of memory. */
struct first_calls *first_calls_new(struct chunk_profile *profile,
                                    const struct path_extents *extents, bool data);
void first_calls_free(struct first_calls *calls);

/* For trace_watch(), with the calls as context: the profile gets the chunk. */
bool first_calls_chunk(void *calls, const struct trace_chunk *chunk, struct error *error);
/* What was decoded of the chunks so far. False: out of memory. */
bool first_calls_see(struct first_calls *calls, const struct code *code,
                     const struct trace_batch *batch);
/* All was seen. False: out of memory. */
bool first_calls_end(struct first_calls *calls, const struct code *code);

/* NULL: there are none, for several threads ran. */
const struct stack_starts *first_calls_starts(const struct first_calls *calls);
