/* Pieces of dependence graphs, kept in memory for what must be walked more than once or backwards:
 * critical path, slack, costs of static instructions.
 *
 * The graph of each core is cut into pieces of `length` µops, and also where it begins anew. Of the
 * pieces every `distance`-th is kept as a fragment: all at first; whenever `most` µops are kept,
 * the distance doubles and every second fragment is given up. So they are spread evenly over the
 * run, and memory does not grow with it. Which are kept depends only on what the cores executed.
 *
 * A fragment stands alone: edges that lead back beyond its first µop are left out. */
#pragma once

#include "graph/build.h"

enum { FRAGMENT_LENGTH = 1 << 14, FRAGMENTS_MOST = 1 << 21 }; /* defaults; the latter 128 MiB */

struct graph_fragment {
    struct graph_uop *uops;
    uint32_t count; /* 1 to length */
};

struct graph_fragments;
/* 1 ≤ length ≤ most. NULL: out of memory. */
struct graph_fragments *graph_fragments_new(uint32_t length, uint32_t most);
void graph_fragments_free(struct graph_fragments *fragments);

/* Makes a sink that takes the graph of one more core, for as long as `fragments` live. All builders
 * must be on one thread. False: out of memory. */
bool graph_fragments_sink(struct graph_fragments *fragments, struct graph_sink *sink,
                          struct error *error);

/* Once the cores have finished. */
uint32_t graph_fragments_count(const struct graph_fragments *fragments);
struct graph_fragment graph_fragments_get(const struct graph_fragments *fragments, uint32_t number);
/* µops of the whole graph, and of the fragments. */
uint64_t graph_fragments_seen(const struct graph_fragments *fragments);
uint64_t graph_fragments_kept(const struct graph_fragments *fragments);
