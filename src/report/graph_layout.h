/* Where the nodes of a directed graph go in a picture, and the way of its edges: by layers
 * (Sugiyama, Tagawa and Toda 1981). Edges lead down, but for those that close cycles. Made for some
 * hundred nodes. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "util/error.h"

struct layout_node {
    double width, height; /* the caller's */
    double x, y;          /* of its middle, of its upper side */
    uint32_t layer;
};

struct layout_point {
    double x, y;
};

struct layout_edge {
    uint32_t from, to;                 /* the caller's */
    bool back;                         /* it leads up, or to its own node */
    uint32_t first_point, point_count; /* from `from`'s side to `to`'s; pairs of points that are one
                                          above the other lie beside nodes that the edge passes.
                                          None of an edge to its own node */
};

/* Nodes and edges are the caller's; node 0 is the entry. */
struct graph_layout {
    struct layout_node *nodes;
    uint32_t node_count;
    struct layout_edge *edges;
    uint32_t edge_count;
    struct layout_point *points; /* graph_layout_free() frees them */
    uint32_t point_count;
    double width, height;
};

enum {
    LAYOUT_GAP = 24,
    LAYOUT_LAYER_GAP = 46,
    LAYOUT_LANE = 12
}; /* between nodes, layers; the
      width of a passing edge */

/* False: out of memory. */
bool graph_layout_make(struct graph_layout *layout, struct error *error);
/* The same, with parts that no edge connects in rows of about that width, that of node 0 first. */
bool graph_layout_pack(struct graph_layout *layout, double width, struct error *error);
void graph_layout_free(struct graph_layout *layout);
