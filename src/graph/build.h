/* Builds the dependence graph of one core's run from its life records, streamed: memory does not
 * grow with the run. */
#pragma once

#include <stdbool.h>

#include "graph/graph.h"
#include "tap/life.h"
#include "tap/tap.h"
#include "util/error.h"

/* Gets µops in program order, GRAPH_CHUNK at a time or fewer. `lives`: beside them, for checks; the
 * arrays are valid during the call. `first`: nothing before uops[0] is known, so no edge leads back
 * from here. */
enum { GRAPH_CHUNK = 1024 };
struct graph_sink {
    bool (*take)(void *context, const struct graph_uop *uops, const struct packed_life *lives,
                 uint32_t count, bool first, struct error *error);
    void *context;
};

struct graph_builder;
/* NULL: out of memory. */
struct graph_builder *graph_builder_new(const struct machine *machine, enum isa isa,
                                        const struct graph_sink *sink);
void graph_builder_free(struct graph_builder *builder);

/* The next lives of a run; those that were squashed are passed over. A life whose number does not
 * follow the one before it begins a new graph. */
bool graph_builder_add(struct graph_builder *builder, const struct packed_life *lives,
                       uint32_t count, struct error *error);

/* A worker that feeds it. */
struct tap_worker graph_builder_worker(struct graph_builder *builder);
