/* A calling context tree (Ammons et al. 1997): one node for each place that was
 * reached by one chain of calls, so that stacks share what they have in common. The parent of a
 * node is its caller. What a place is, the owner knows: in the store, an image by its number. */
#pragma once

#include "store/store.h"
#include "util/hash_index.h"

struct call_tree {
    struct store_call *calls; /* parents before children */
    size_t count, capacity;
    struct hash_index index;
    size_t most; /* nodes */
};

/* All zero but for `most`. */
void call_tree_free(struct call_tree *tree);
void call_tree_clear(struct call_tree *tree);

/* The node of this place below `parent` (STORE_CALL_TOP: at the top), made if there is none. Where
 * there is no more room it is `parent` itself, so that what is added to it counts for its caller;
 * STORE_CALL_TOP then, when there is no room at the top. False: out of memory. */
bool call_tree_node(struct call_tree *tree, uint32_t parent, int64_t image, uint64_t offset,
                    uint32_t *node);

/* Adds a tree, parents before children, to another. False: out of memory. */
bool call_tree_merge(struct call_tree *tree, const struct store_call *calls, size_t count);

size_t call_tree_bytes(const struct call_tree *tree);
