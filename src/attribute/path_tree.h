/* The calling context tree of a run while it grows: a node for each chain of calls that led to a
 * function. Two calls of one function from different places in one caller are two nodes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/hash_index.h"

/* How a node's function was entered. */
enum path_kind {
    PATH_THREAD, /* no function: all of a guest thread; its `site` is the thread's number */
    PATH_START,  /* the first function of a thread that was seen */
    PATH_CALL,
    PATH_JUMP,   /* it was jumped to in place of a call and return: a tail call */
    PATH_SIGNAL, /* a signal's handler */
    PATH_STACK,  /* the first on a stack of its own: a coroutine */
    PATH_OUTER,  /* it was returned to, its call was not seen */
    PATH_INLINE, /* it is inlined in its parent */
    PATH_PYTHON, /* what its parent, an interpreter, or a Python function in it, runs */
    PATH_GAP,    /* instructions are missing: callers may be */
    PATH_KINDS
};

#define PATH_NONE UINT32_MAX

struct path_node {
    uint32_t parent;   /* node; PATH_NONE of a thread */
    uint32_t site;     /* static instruction that called or jumped, or was interrupted; PATH_NONE:
                          none is known */
    uint32_t function; /* of struct path_functions; PATH_NONE of a thread */
    uint32_t depth;    /* 0: a thread */
    uint32_t recent;   /* of its edges, the one that was taken last */
    uint8_t kind;      /* enum path_kind */
    bool beside;       /* as in struct call_path, of a site of another run's code */
    uint64_t calls;    /* times that it was entered, since the owner last looked */
};

/* At most so many edges are told apart, and half as many before recursion is folded. */
enum {
    PATH_EDGES_MAX = 1 << 21,
    PATH_NODES_MAX = 1 << 22, /* beyond which callers that are returned to are not told apart */
    PATH_UNFOLDED_MAX = 1 << 19,
    PATH_DEPTH_MAX = 1024
};

struct path_edge {
    uint32_t parent, site, function;
    uint32_t node; /* where it leads: below the parent, or with recursion folded to one above it */
};

struct path_tree {
    struct path_node *nodes;
    size_t node_count, node_capacity;
    struct path_edge *edges;
    size_t edge_count, edge_capacity;
    struct hash_index index; /* of the edges */
    size_t unfolded_max;     /* edges; 0: PATH_UNFOLDED_MAX */
    uint64_t crowded;        /* calls that found no room: they count for their callers */
};

void path_tree_free(struct path_tree *tree);

/* A node that no edge leads to. PATH_NONE: out of memory. */
uint32_t path_tree_add(struct path_tree *tree, uint32_t parent, enum path_kind kind, uint32_t site,
                       uint32_t function);

/* The node of a function entered from a site in the parent. PATH_NONE: out of memory. */
uint32_t path_tree_find_or_add(struct path_tree *tree, uint32_t parent, enum path_kind kind,
                               uint32_t site, uint32_t function);

static inline uint32_t path_tree_child(struct path_tree *tree, uint32_t parent, enum path_kind kind,
                                       uint32_t site, uint32_t function) {
    const uint32_t recent = tree->nodes[parent].recent;
    if (recent != PATH_NONE && tree->edges[recent].site == site &&
        tree->edges[recent].function == function)
        return tree->edges[recent].node;
    return path_tree_find_or_add(tree, parent, kind, site, function);
}
