/* The edges of a fragment of the graph, one by one, with nothing idealised: for walks along them.
 *
 * Issue slots are not edges: what a µop waited for one is the weight of its RE, as in the
 * evaluation that gave the node times. So are the waits for MSHRs that writes have before their W.
 * That evaluation also tells where a load got its value from. */
#pragma once

#include "graph/evaluate.h"
#include "graph/fragments.h"

/* By the node they lead to; of one node the most telling first. */
enum graph_edge_kind {
#define KIND(name, origin, category, report, hardware) EDGE_##name,
#include "graph/edges.def"
    EDGE_COUNT
};

struct graph_edge {
    uint32_t source; /* µop it comes from: index in the fragment */
    int32_t weight;  /* cycles */
    /* Parts of the weight. `apart`: waits for instruction cache and TLB (edges to F), for MSHRs
     * (RE, edges to W), for L1 or the store queue (EP of a load). `miss`: what a load, store or
     * write takes beyond L1. */
    int32_t apart, miss;
    uint8_t from, to, kind;
};

/* Node times of a fragment's µops, into nodes[fragment->count]. `evaluation`, of nothing idealised,
 * is started anew. */
void graph_fragment_times(struct graph_evaluation *evaluation,
                          const struct graph_fragment *fragment, struct graph_nodes *nodes);

/* The edges to the nodes of µop `index`, in the order of edges.def. Returns how many. A node's time
 * is the latest over its edges of the source's time and the weight; F of the first µop has no edge:
 * its time is its own wait for caches and TLB. */
enum {
    GRAPH_MOST_EDGES = 0
#define EDGE(name, FROM, distance, TO, when, cycles)   +1
#define OWN(name, FROM, TO, when, cycles, apart, miss) +1
#include "graph/edges.def"
};
uint32_t graph_edges(const struct graph_machine *machine, const struct graph_fragment *fragment,
                     const struct graph_nodes *nodes, uint32_t index,
                     struct graph_edge edges[GRAPH_MOST_EDGES]);
