/* - A jump into the middle of another function leads to the innermost activation of it (longjmp),
 * or to a stack set aside whose last call returns there (a coroutine). If there is none, the
 * function is in pieces, as memcpy is in the C library, and nothing has changed.
 * - A jump to where a function begins is a tail call: it is called by the function that jumps.
 *   Functions that jump to each other in turn are folded.
 * - An entry of the linkage table counts for its caller, until it jumps to the function. */
#include "attribute/shadow_parts.h"

/* A jump, or a return that is none, to where a function begins. */
bool shadow_jump_to_function(struct shadow_stack *stack, const struct code *code, uint32_t insn) {
    struct path_tree *tree = stack->tree;
    const struct path_node *node = &tree->nodes[stack->node];
    const uint32_t function = path_function_at(stack->functions, code, insn);
    stack->fresh = true;
    if (function == FUNCTION_NONE)
        return false;
    if (shadow_function(stack, stack->node) != FUNCTION_NONE &&
        stack->functions->items[shadow_function(stack, stack->node)].resolver)
        return shadow_enter(stack, code, node->parent, node->kind, node->site, insn);
    if (node->parent == stack->root && !stack->frames.count)
        return shadow_enter(stack, code, stack->root, PATH_STACK, PATH_NONE, insn);
    for (uint32_t at = stack->node;; at = shadow_base(stack, tree->nodes[at].parent)) {
        if (shadow_function(stack, at) == function)
            return shadow_go_into(stack, at);
        if (tree->nodes[at].kind != PATH_JUMP)
            break;
    }
    return shadow_enter(stack, code, shadow_caller(stack), PATH_JUMP, stack->left.insn, insn);
}

/* One of the functions that jumped to each other up to here goes on. */
bool shadow_jump_back(struct shadow_stack *stack, const struct code *code, uint32_t insn) {
    const struct path_tree *tree = stack->tree;
    for (uint32_t at = stack->node; at != stack->root;
         at = shadow_base(stack, tree->nodes[at].parent)) {
        if (shadow_holds(stack, code, at, insn))
            return shadow_go_to(stack, at);
        if (tree->nodes[at].kind != PATH_JUMP)
            break;
    }
    return false;
}

/* Into the middle of another function. */
bool shadow_jump_into(struct shadow_stack *stack, const struct code *code, uint32_t insn) {
    const uint64_t place = shadow_place(stack, code, insn, 0);
    if (shadow_jump_back(stack, code, insn) || stack->left.branch == BRANCH_JUMP ||
        stack->left.branch == BRANCH_CONDITIONAL)
        return true;
    for (size_t i = 0; i < SHADOW_RECENT; i++)
        if (stack->left.recent[i] && shadow_take_up(stack, stack->left.recent[i], place))
            return true;
    (void)(shadow_unwind_to(stack, code, insn) || shadow_take_up(stack, 0, place));
    return true; /* else a function in pieces */
}

/* From the linkage table to a function. What is reached by way of its first entry finds the
 * function that is wanted, and goes on there. */
static bool left_linkage(struct shadow_stack *stack, const struct code *code, uint32_t insn) {
    const uint32_t site = stack->stub_site;
    stack->stub_site = PATH_NONE;
    stack->fresh = false; /* on the stack of the call of the entry */
    if (!shadow_enter(stack, code, shadow_caller(stack), (enum path_kind)stack->stub_kind, site,
                      insn))
        return false;
    stack->functions->items[shadow_function(stack, stack->node)].resolver |= stack->stub_lazy;
    return true;
}

bool shadow_is_linkage(const struct shadow_stack *stack, uint32_t function) {
    return function != FUNCTION_NONE && stack->functions->items[function].linkage;
}

/* Before a call or jump to an entry of the linkage table. */
void shadow_enter_linkage(struct shadow_stack *stack, enum path_kind kind) {
    stack->stub_site = stack->left.insn;
    stack->stub_kind = (uint8_t)kind;
    stack->stub_lazy = false;
}

/* From the linkage table to a part of it: entries without a name are code of the same file that
 * only unwind tables tell of. */
static bool stays_in_linkage(const struct shadow_stack *stack, const struct code *code, uint32_t to,
                             uint32_t insn) {
    return stack->left.branch != BRANCH_INDIRECT || shadow_is_linkage(stack, to) ||
           (to != FUNCTION_NONE && !stack->functions->items[to].named &&
            code->insns[insn].image == code->insns[stack->left.insn].image);
}

bool shadow_jumped(struct shadow_stack *stack, const struct code *code, uint32_t insn) {
    const uint32_t from = path_function_of(stack->functions, code, stack->left.insn);
    const uint32_t to = path_function_of(stack->functions, code, insn);
    if (stack->stub_site != PATH_NONE) {
        const bool stays = stays_in_linkage(stack, code, to, insn);
        stack->stub_lazy |= stays;
        return stays || left_linkage(stack, code, insn);
    }
    if (from == to && from != FUNCTION_NONE) {
        if (stack->left.branch != BRANCH_INDIRECT)
            stack->within[stack->left.insn] = 1;
        return true;
    }
    if (shadow_is_linkage(stack, to)) {
        shadow_enter_linkage(stack, PATH_JUMP);
        return true;
    }
    const bool begins = path_function_begins(stack->functions, code, insn);
    if (from == FUNCTION_NONE && to == FUNCTION_NONE && !begins) {
        if (stack->left.branch != BRANCH_INDIRECT)
            stack->within[stack->left.insn] = 1;
        return true;
    }
    return begins ? shadow_jump_to_function(stack, code, insn)
                  : shadow_jump_into(stack, code, insn);
}