/* Edges are found by a hash, the last one of each node without. Programs that call themselves in
 * trees, as compilers do, have more chains of calls than anyone can look at. When there are many,
 * or they are deep, a function that is called again below itself is its own node above: then there
 * are no more chains than without recursion. */
#include "attribute/path_tree.h"

#include <stdlib.h>

#include "util/array.h"

void path_tree_free(struct path_tree *tree) {
    free(tree->nodes);
    free(tree->edges);
    hash_index_free(&tree->index);
    *tree = (struct path_tree){0};
}

uint32_t path_tree_add(struct path_tree *tree, uint32_t parent, enum path_kind kind, uint32_t site,
                       uint32_t function) {
    const struct path_node node = {
        .parent = parent,
        .site = site,
        .function = function,
        .depth = parent == PATH_NONE ? 0 : tree->nodes[parent].depth + 1,
        .recent = PATH_NONE,
        .kind = (uint8_t)kind,
    };
    return array_push(tree->nodes, tree->node_capacity, tree->node_count, node)
               ? (uint32_t)tree->node_count - 1
               : PATH_NONE;
}

static uint64_t hash_edge(uint32_t parent, uint32_t site, uint32_t function) {
    return hash_pair((uint64_t)parent << 32 | site, function);
}

/* The function's own node above, where recursion is folded; PATH_NONE: there is none. */
static uint32_t folded(const struct path_tree *tree, uint32_t parent, uint32_t function) {
    const size_t most = tree->unfolded_max ? tree->unfolded_max : PATH_UNFOLDED_MAX;
    if (tree->edge_count < most && tree->nodes[parent].depth < PATH_DEPTH_MAX)
        return PATH_NONE;
    for (uint32_t at = parent; at != PATH_NONE; at = tree->nodes[at].parent)
        if (tree->nodes[at].function == function)
            return at;
    return PATH_NONE;
}

uint32_t path_tree_find_or_add(struct path_tree *tree, uint32_t parent, enum path_kind kind,
                               uint32_t site, uint32_t function) {
    const uint64_t hash = hash_edge(parent, site, function);
    const uint32_t number = (uint32_t)tree->edge_count;
    size_t at;
    for (uint32_t i = hash_index_first(&tree->index, hash, &at); i != HASH_INDEX_NONE;
         i = hash_index_next(&tree->index, hash, &at)) {
        const struct path_edge *edge = &tree->edges[i];
        if (edge->parent == parent && edge->site == site && edge->function == function) {
            tree->nodes[parent].recent = i;
            return edge->node;
        }
    }
    if (number == PATH_EDGES_MAX) {
        tree->crowded++;
        return parent;
    }
    struct path_edge edge = {parent, site, function, folded(tree, parent, function)};
    if (edge.node == PATH_NONE)
        edge.node = path_tree_add(tree, parent, kind, site, function);
    if (edge.node == PATH_NONE ||
        !array_push(tree->edges, tree->edge_capacity, tree->edge_count, edge) ||
        !hash_index_add(&tree->index, hash, number))
        return PATH_NONE;
    tree->nodes[parent].recent = number;
    return edge.node;
}
