/* The edges of a fragment of the graph, one by one, with nothing idealised: for walks along them.
 *
 * Issue slots are not edges: what a µop waited for one is the weight of its RE, as in the
 * evaluation that gave the node times. So are the waits for MSHRs that writes have before their W.
 * That evaluation also tells where a load got its value from. */
#ifndef CULPRIT_GRAPH_EDGES_H
#define CULPRIT_GRAPH_EDGES_H

#include "graph/evaluate.h"
#include "graph/fragments.h"

enum graph_node { NODE_F, NODE_W, NODE_L, NODE_D, NODE_R, NODE_E, NODE_P, NODE_C, NODE_COUNT };

/* Kinds of edges (graph.h), by the node they lead to; of one node the most telling first. */
enum graph_edge_kind {
    EDGE_PD,
    EDGE_FL,
    EDGE_CF,
    EDGE_CT,
    EDGE_FB,
    EDGE_FT,
    EDGE_FBW,
    EDGE_DF,
    EDGE_FF,
    EDGE_WBW,
    EDGE_CW,
    EDGE_WW,
    EDGE_WL,
    EDGE_LL,
    EDGE_SQ,
    EDGE_CS,
    EDGE_CQ,
    EDGE_ED,
    EDGE_CD,
    EDGE_DBW,
    EDGE_FD,
    EDGE_DD,
    EDGE_PR, /* the data of a store: to its P */
    EDGE_SR,
    EDGE_SW,
    EDGE_CR,
    EDGE_DR,
    EDGE_RE,
    EDGE_EP,
    EDGE_PP,
    EDGE_SP,
    EDGE_PC,
    EDGE_CBW,
    EDGE_CC,
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

/* Times of a node of one µop by its number: node_times(nodes)[NODE_P] is nodes->complete. */
static_assert(sizeof(struct graph_nodes) == NODE_COUNT * sizeof(int64_t), "times, in order");
static inline int64_t *node_times(struct graph_nodes *nodes) {
    return &nodes->fetch;
}
static inline int64_t node_time(const struct graph_nodes *nodes, unsigned node) {
    return (&nodes->fetch)[node];
}

/* Node times of a fragment's µops, into nodes[fragment->count]. `evaluation`, of nothing idealised,
 * is started anew. */
void graph_fragment_times(struct graph_evaluation *evaluation,
                          const struct graph_fragment *fragment, struct graph_nodes *nodes);

/* The edges to the nodes of µop `index`, in the order of the nodes they lead to, and of their
 * kinds. Returns how many. A node's time is the latest over its edges of the source's time and the
 * weight; F of the first µop has no edge: its time is its own wait for caches and TLB. */
enum { GRAPH_MOST_EDGES = 40 };
uint32_t graph_edges(const struct graph_machine *machine, const struct graph_fragment *fragment,
                     const struct graph_nodes *nodes, uint32_t index,
                     struct graph_edge edges[GRAPH_MOST_EDGES]);

#endif
