/* The lengths t(S) of a graph under all 2^n sets of n categories, in one pass: each set is a lane
 * of vector registers (interaction-cost paper §3). Every t(S) is exactly what graph/evaluate.h
 * finds.
 *
 *     lanes = graph_lanes_new(&machine, NULL, LANES_BEST, &error)
 *     graph_lanes_add(lanes, uops, count, first)        as often as there are µops
 *     graph_lanes_times(lanes, times)
 *
 * Memory does not grow with the graph. */
#pragma once

#include <stdbool.h>

#include "graph/category.h"
#include "graph/graph.h"
#include "util/error.h"

enum lanes_level {
    LANES_PLAIN, /* whatever the compiler makes of vectors */
    LANES_AVX2,
    LANES_AVX2_NARROW, /* 16-bit cycles where these suffice */
    LANES_AVX512,
    LANES_AVX512_NARROW, /* likewise */
    LANES_BEST           /* of those that the processor has */
};
const char *lanes_level_name(enum lanes_level level);
bool lanes_level_usable(enum lanes_level level); /* on this processor */

struct graph_lanes;
/* `categories` are copied, except for their sets of instructions, which must stay; NULL: the
 * standard ones. NULL with an error: out of memory. */
struct graph_lanes *graph_lanes_new(const struct graph_machine *machine,
                                    const struct categories *categories, enum lanes_level level,
                                    struct error *error);
void graph_lanes_free(struct graph_lanes *lanes);

/* The next µops of the graph, as struct graph_sink gets them. `first`: a new fragment begins. */
void graph_lanes_add(struct graph_lanes *lanes, const struct graph_uop *uops, uint32_t count,
                     bool first);

/* For each of the 1 << count sets, the cycles from the begin of a fragment to its last commit,
 * summed over the fragments so far. */
void graph_lanes_times(const struct graph_lanes *lanes, double *times);
