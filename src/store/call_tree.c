#include "store/call_tree.h"

#include "util/array.h"

void call_tree_free(struct call_tree *tree) {
    free(tree->calls);
    hash_index_free(&tree->index);
    *tree = (struct call_tree){.most = tree->most};
}

void call_tree_clear(struct call_tree *tree) {
    hash_index_free(&tree->index);
    tree->count = 0;
}

bool call_tree_node(struct call_tree *tree, uint32_t parent, int64_t image, uint64_t offset,
                    uint32_t *node) {
    const uint64_t hash = hash_pair((uint64_t)image << 32 ^ parent, offset);
    size_t at;
    for (uint32_t i = hash_index_first(&tree->index, hash, &at); i != HASH_INDEX_NONE;
         i = hash_index_next(&tree->index, hash, &at)) {
        const struct store_call *call = &tree->calls[i];
        if (call->parent == parent && call->image == image && call->offset == offset) {
            *node = i;
            return true;
        }
    }
    *node = parent;
    if (tree->count >= tree->most)
        return true;
    if (!array_room(tree->calls, tree->capacity, tree->count + 1) ||
        !hash_index_add(&tree->index, hash, (uint32_t)tree->count))
        return false;
    tree->calls[tree->count] =
        (struct store_call){.parent = parent, .image = image, .offset = offset};
    *node = (uint32_t)tree->count++;
    return true;
}

static uint64_t sum(uint64_t one, uint64_t other) {
    uint64_t result;
    return __builtin_add_overflow(one, other, &result) ? UINT64_MAX : result;
}

bool call_tree_merge(struct call_tree *tree, const struct store_call *calls, size_t count) {
    uint32_t *nodes = malloc((count + 1) * sizeof *nodes);
    bool good = nodes;
    for (size_t i = 0; good && i < count; i++) {
        uint32_t parent =
            calls[i].parent == STORE_CALL_TOP ? STORE_CALL_TOP : nodes[calls[i].parent];
        good = call_tree_node(tree, parent, calls[i].image, calls[i].offset, &nodes[i]);
        if (good && nodes[i] != STORE_CALL_TOP)
            tree->calls[nodes[i]].value = sum(tree->calls[nodes[i]].value, calls[i].value);
    }
    free(nodes);
    return good;
}

size_t call_tree_bytes(const struct call_tree *tree) {
    return tree->capacity * sizeof *tree->calls + hash_index_bytes(&tree->index);
}
