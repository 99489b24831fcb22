/* - A return takes its address from the slot of some call's frame: the callers further in are gone.
 *   If it does not go where that call would have returned to, as when a C++ exception lands, the
 *   caller is still the same.
 * - A call far from the last one's slot is on another stack. The frames of the old one are set
 *   aside, to be found again by a slot.
 * - A call near the last slot, but above it, finds the frames below it dead. */
#include <assert.h>

#include "attribute/shadow_parts.h"
#include "util/array.h"

/* A function whose callers are not known. */
static bool lose(struct shadow_stack *stack, const struct code *code, uint32_t insn) {
    const struct shadow_frame *top = shadow_top(stack);
    stack->counts.lost++;
    return shadow_enter(stack, code, top ? top->node : stack->root, PATH_GAP, PATH_NONE, insn);
}

/* Returned to where no call was seen: the trace, or this stack, began inside. What was outermost
 * until now was called from there. */
static bool return_outwards(struct shadow_stack *stack, const struct code *code, uint32_t insn) {
    struct path_tree *tree = stack->tree;
    const uint32_t function = path_function_at(stack->functions, code, insn);
    uint32_t bottom = stack->node;
    while (bottom != stack->root && tree->nodes[bottom].parent != stack->root)
        bottom = tree->nodes[bottom].parent;
    const uint8_t kind = tree->nodes[bottom].kind;
    if ((kind != PATH_START && kind != PATH_OUTER) || tree->node_count > PATH_NODES_MAX)
        return shadow_enter(stack, code, stack->root, PATH_STACK, PATH_NONE, insn);
    const uint32_t outer = path_tree_add(tree, stack->root, PATH_OUTER, PATH_NONE, function);
    if (outer == PATH_NONE || function == FUNCTION_NONE)
        return false;
    tree->nodes[bottom].parent = outer;
    return shadow_go_to(stack, outer);
}

/* ---- calls and returns ---- */

/* Before a call whose return address lies at `slot`: frames that cannot be there any more go,
 * and those of another stack are set aside. */
static bool make_way(struct shadow_stack *stack, const struct code *code, uint64_t slot) {
    const struct shadow_frame *top = shadow_top(stack);
    const bool fresh = stack->fresh;
    stack->fresh = false;
    if (!top || !top->slot || !slot)
        return true;
    const uint64_t below = top->slot - slot, above = slot - top->slot;
    if (below - 1 < (fresh ? FRESH_BYTES : FAR_BYTES))
        return true;
    if (above < (fresh ? FRESH_BYTES : FAR_BYTES)) {
        uint32_t caller = stack->node;
        while ((top = shadow_top(stack)) && top->slot && slot - top->slot < FAR_BYTES) {
            if (shadow_holds(stack, code, top->node, stack->left.insn))
                caller = top->node;
            stack->frames.count--;
        }
        return shadow_go_to(stack, caller);
    }
    shadow_set_aside(stack);
    stack->counts.switched++;
    if (!fresh)
        return true;
    return shadow_enter(stack, code, stack->root, PATH_STACK, PATH_NONE, stack->left.insn);
}

static bool called(struct shadow_stack *stack, const struct code *code, uint32_t insn) {
    const struct departure *left = &stack->left;
    const uint64_t back = shadow_place_after(stack, code, left->insn);
    if (shadow_place(stack, code, insn, 0) == back)
        return true; /* to learn its own address */
    const uint32_t function = path_function_at(stack->functions, code, insn);
    stack->counts.calls++;
    if (function == FUNCTION_NONE || !make_way(stack, code, left->slot) ||
        !shadow_push(stack,
                     (struct shadow_frame){.slot = left->slot, .back = back, .node = stack->node}))
        return false;
    if (shadow_is_linkage(stack, function)) {
        shadow_enter_linkage(stack, PATH_CALL);
        return true;
    }
    return shadow_go_into(
        stack, path_tree_child(stack->tree, shadow_caller(stack), PATH_CALL, left->insn, function));
}

/* A return that no call explains, on the present stack or on one that begins. */
static bool return_astray(struct shadow_stack *stack, const struct code *code, uint32_t insn) {
    const uint64_t slot = stack->left.slot;
    struct shadow_frame *top = shadow_top(stack);
    if (top && (top->kind == FRAME_SIGNAL || top->kind == FRAME_RESTORING)) {
        top->kind = FRAME_RESTORING;
        return true;
    }
    if (top && top->kind == FRAME_PUSHED)
        return shadow_left_pushed(stack, code, insn);
    if (path_function_begins(stack->functions, code, insn)) {
        if (!top || !top->slot || !slot || top->slot - slot < FRESH_BYTES)
            return shadow_jump_to_function(stack, code, insn);
        shadow_set_aside(stack);
        stack->counts.switched++;
        return shadow_enter(stack, code, stack->root, PATH_STACK, PATH_NONE, insn);
    }
    if (shadow_holds(stack, code, stack->node, insn) || shadow_jump_back(stack, code, insn) ||
        shadow_unwind_to(stack, code, insn))
        return true;
    while (slot && (top = shadow_top(stack)) && top->slot && slot - top->slot < FAR_BYTES)
        stack->frames.count--;
    return top ? lose(stack, code, insn) : return_outwards(stack, code, insn);
}

static bool returned(struct shadow_stack *stack, const struct code *code, uint32_t insn) {
    struct shadow_frames *frames = &stack->frames;
    const struct shadow_frame *top = shadow_top(stack);
    const uint64_t slot = stack->left.slot, place = shadow_place(stack, code, insn, 0);
    stack->fresh = false;
    if (top && top->slot == slot && top->back == place) {
        stack->node = top->node;
        frames->count--;
        return true;
    }
    const size_t found = shadow_find_frame(stack, slot, place);
    if (found == frames->count)
        return shadow_take_up(stack, slot, place) || return_astray(stack, code, insn);
    assert(frames->items); /* it has more than `found` */
    const bool exact = frames->items[found].back == place;
    const uint32_t node = frames->items[found].node;
    if (found + 1 < frames->count) {
        stack->counts.unwound++;
        if (exact && !shadow_split(stack, found + 1))
            return false;
    }
    frames->count = found;
    stack->node = node;
    if (exact || shadow_holds(stack, code, node, insn))
        return true;
    return path_function_begins(stack->functions, code, insn)
               ? shadow_jump_to_function(stack, code, insn)
               : shadow_jump_into(stack, code, insn);
}

/* ---- gaps ---- */

/* Instructions are missing before this one. */
static bool missed(struct shadow_stack *stack, const struct code *code, uint32_t insn) {
    stack->left.any = false;
    stack->stub_site = PATH_NONE;
    if (stack->node == stack->root) {
        const uint32_t function = path_function_at(stack->functions, code, insn);
        return function != FUNCTION_NONE &&
               shadow_go_to(
                   stack, path_tree_add(stack->tree, stack->root, PATH_START, PATH_NONE, function));
    }
    if (shadow_holds(stack, code, stack->node, insn) || shadow_unwind_to(stack, code, insn))
        return true;
    stack->counts.lost_gaps++;
    return lose(stack, code, insn);
}

/* ---- instructions ---- */

bool shadow_follow(struct shadow_stack *stack, const struct code *code, uint32_t insn) {
    switch (stack->left.branch) {
    case BRANCH_CALL:
    case BRANCH_INDIRECT_CALL:
        return called(stack, code, insn);
    case BRANCH_RETURN:
        return returned(stack, code, insn);
    case BRANCH_CONDITIONAL:
    case BRANCH_JUMP:
    case BRANCH_INDIRECT:
        return shadow_jumped(stack, code, insn);
    default:
        return true;
    }
}

bool shadow_arrive(struct shadow_stack *stack, const struct code *code, uint32_t insn) {
    stack->left.any = false;
    if (stack->left.flags & DYN_GAP)
        return missed(stack, code, insn);
    return stack->left.flags & DYN_SIGNAL ? shadow_signalled(stack, code, insn)
                                          : shadow_follow(stack, code, insn);
}
