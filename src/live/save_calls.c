/* The tree of calls that was gathered, as a tree for each row of processes and event. */
#include <stdlib.h>

#include "live/resolver_save.h"
#include "util/array.h"

/* The tree that stands below a top; false: out of memory. */
static bool tree_of(struct save *save, uint32_t row, uint32_t event, size_t *tree) {
    *tree = (size_t)row * save->resolver->event_count + event;
    if (!array_zeroed_room(save->trees, save->tree_capacity, *tree + 1))
        return false;
    if (*tree >= save->tree_count)
        save->tree_count = *tree + 1;
    save->trees[*tree].most = STORE_CALLS_MAX;
    return true;
}

/* A node of the tree that samples were gathered in, where it stands in a tree to be saved. */
struct saved_node {
    size_t tree; /* index of save.trees, which grow */
    uint32_t node;
    uint32_t slice; /* number */
};

static bool place_top(struct save *save, const struct store_call *call, struct saved_node *saved,
                      struct error *error) {
    const enum live_stack_end end = tree_top_end(call->offset);
    uint32_t row;
    saved->slice = (uint32_t)(call->image - 1);
    saved->node = STORE_CALL_TOP;
    if (!save_row(save, saved->slice, &row, error))
        return false;
    if (!tree_of(save, row, tree_top_event(call->offset), &saved->tree))
        return save_no_memory(error);
    const uint64_t cut = end == LIVE_STACK_TRUNCATED ? STORE_TRUNCATED
                         : end == LIVE_STACK_FAILED  ? STORE_FAILED
                                                     : 0;
    return !cut ||
           call_tree_node(&save->trees[saved->tree], STORE_CALL_TOP, 0, cut, &saved->node) ||
           save_no_memory(error);
}

static bool place_call(struct save *save, const struct store_call *call,
                       const struct saved_node *caller, struct saved_node *saved,
                       struct error *error) {
    /* Where it lies is found as of a sample, of which there is none. */
    const struct sample_entry entry = {
        .slice = caller->slice, .place = (uint32_t)(call->image - 1), .offset = call->offset};
    struct saved_entry found = {.offset = call->offset};
    *saved = *caller;
    return save_place(save, &entry, &found, error) &&
           (call_tree_node(&save->trees[saved->tree], caller->node, 1 + (int64_t)found.image,
                           found.offset, &saved->node) ||
            save_no_memory(error));
}

bool save_place_calls(struct save *save, struct error *error) {
    const struct call_tree *gathered = &save->resolver->tree;
    struct saved_node *nodes = calloc(gathered->count + 1, sizeof *nodes);
    bool good = nodes || save_no_memory(error);
    for (size_t i = 0; good && i < gathered->count; i++) {
        const struct store_call *call = &gathered->calls[i];
        good = call->parent == STORE_CALL_TOP
                   ? place_top(save, call, &nodes[i], error)
                   : place_call(save, call, &nodes[call->parent], &nodes[i], error);
        if (good && nodes[i].node != STORE_CALL_TOP)
            save->trees[nodes[i].tree].calls[nodes[i].node].value += call->value;
    }
    free(nodes);
    return good;
}

bool save_calls(struct save *save, struct error *error) {
    const size_t events = save->resolver->event_count;
    for (size_t i = 0; i < save->tree_count; i++) {
        struct call_tree *tree = &save->trees[i];
        for (size_t k = 0; k < tree->count; k++)
            if (tree->calls[k].image)
                tree->calls[k].image = save->images[tree->calls[k].image - 1].id;
        if (!store_add_calls(save->store, save->session, save->row_ids[i / events],
                             save->event_ids[i % events], tree->calls, tree->count, error))
            return false;
    }
    return true;
}
