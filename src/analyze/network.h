/* A control-flow graph with blocks and edges alike: both are arcs, and the nodes are the outside
 * and the head and the tail of each block. What flows into a node flows out of it. */
#pragma once

#include "analyze/cfg.h"

enum { NETWORK_OUTSIDE = 0 };
static inline uint32_t network_head(uint32_t block) {
    return block == CFG_NONE ? NETWORK_OUTSIDE : 1 + 2 * block;
}
static inline uint32_t network_tail(uint32_t block) {
    return block == CFG_NONE ? NETWORK_OUTSIDE : 2 + 2 * block;
}

struct network_arc {
    uint32_t from, to; /* nodes */
};

struct network {
    struct network_arc *arcs; /* blocks, then the graph's edges, then outer edges */
    uint32_t *first;          /* by node, and one more: in `incident` */
    uint32_t *incident; /* arcs that begin or end at the node; what does both is there twice */
    uint32_t arc_count, node_count;
};

/* Outer edges are those of struct equivalence: from the head of a block to outside (from its tail,
 * if nothing else leaves it), or from outside to a head. False: out of memory. network_free()
 * either way. */
bool network_make(struct network *network, const struct cfg *cfg, const struct cfg_edge *outer,
                  uint32_t outer_count, struct error *error);
void network_free(struct network *network);

static inline uint32_t network_other(const struct network *network, uint32_t arc, uint32_t node) {
    const struct network_arc *ends = &network->arcs[arc];
    return ends->from == node ? ends->to : ends->from;
}
