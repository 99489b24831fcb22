/* Instructions are walked one after the other; only those that control leaves other than to the
 * next one are looked at. Where it went, shadow_arrive.c finds. */
#include "attribute/shadow_stack.h"

#include <stdlib.h>

#include "attribute/shadow_parts.h"
#include "util/array.h"
#include "util/order.h"

bool shadow_stack_init(struct shadow_stack *stack, struct path_tree *tree,
                       struct path_functions *functions, uint32_t thread, shadow_move *move,
                       void *context) {
    *stack = (struct shadow_stack){.tree = tree,
                                   .functions = functions,
                                   .move = move,
                                   .move_context = context,
                                   .stub_site = PATH_NONE,
                                   .next = UINT64_MAX};
    stack->root = path_tree_add(tree, PATH_NONE, PATH_THREAD, thread, FUNCTION_NONE);
    stack->node = stack->inner = stack->told = stack->root;
    stack->scope_node = PATH_NONE;
    return stack->root != PATH_NONE;
}

void shadow_stack_free(struct shadow_stack *stack) {
    free(stack->frames.items);
    for (size_t i = 0; i < SHADOW_ASIDE; i++)
        free(stack->aside[i].items);
    free(stack->within);
    shadow_python_free(&stack->python);
}

void shadow_counts_add(struct shadow_counts *sum, const struct shadow_counts *counts) {
    sum->calls += counts->calls;
    sum->signals += counts->signals;
    sum->unwound += counts->unwound;
    sum->switched += counts->switched;
    sum->lost += counts->lost;
    sum->lost_gaps += counts->lost_gaps;
}

/* Address of the return address that a call stores or a return loads. */
static inline uint64_t slot_of(const struct trace_batch *piece, const struct dynamic_insn *insn,
                               bool store) {
    const uint32_t first = insn->memory - (uint32_t)piece->first_access;
    for (uint32_t i = first; i < first + insn->memory_count && i < piece->access_count; i++)
        if (piece->accesses[i].is_store == store)
            return piece->accesses[i].address;
    return 0;
}

static void note_recent(struct departure *left, const struct trace_batch *piece,
                        const struct dynamic_insn *insn) {
    const uint32_t last = insn->memory - (uint32_t)piece->first_access;
    for (uint32_t i = 0; i < SHADOW_RECENT; i++)
        left->recent[i] =
            i < last && last <= piece->access_count ? piece->accesses[last - 1 - i].address : 0;
}

static inline void depart(struct shadow_stack *stack, const struct code *code,
                          const struct trace_batch *piece, const struct dynamic_insn *insn) {
    struct departure *left = &stack->left;
    const uint8_t branch = code->insns[insn->insn].branch;
    left->any = true;
    left->branch = branch;
    left->flags = insn->flags;
    left->insn = insn->insn;
    left->slot = 0;
    if (branch == BRANCH_INDIRECT)
        note_recent(left, piece, insn);
    else if (branch >= BRANCH_CALL && code->isa == ISA_X86_64)
        left->slot = slot_of(piece, insn, branch != BRANCH_RETURN);
}

/* The node of the inlined functions that the instruction is of. */
static bool go_inside(struct shadow_stack *stack, const struct code *code, uint32_t insn) {
    const uint32_t scope = path_scope_of(stack->functions, code, insn);
    if (scope == UINT32_MAX)
        return false;
    if (scope == stack->scope && stack->node == stack->scope_node)
        return true;
    stack->scope = scope;
    stack->scope_node = stack->inner = stack->node;
    const struct path_scope *inlined = &stack->functions->scopes[scope];
    if (!inlined->count || !shadow_holds(stack, code, stack->node, insn))
        return true;
    for (uint32_t i = 0; i < inlined->count && stack->inner != PATH_NONE; i++)
        stack->inner = path_tree_child(stack->tree, stack->inner, PATH_INLINE, PATH_NONE,
                                       inlined->functions[i]);
    return stack->inner != PATH_NONE;
}

/* ---- Python ---- */

static bool is_loop(const struct shadow_stack *stack, uint32_t node) {
    const uint32_t function = shadow_function(stack, node);
    return function != FUNCTION_NONE && stack->functions->items[function].loop;
}

/* The loop that is active, where Python's frames change: mostly it is what runs. */
static uint32_t active_loop(const struct shadow_stack *stack) {
    enum { OUTWARDS_MAX = 64 };
    uint32_t node = stack->node;
    for (int i = 0; i < OUTWARDS_MAX && node != PATH_NONE; i++) {
        if (is_loop(stack, node))
            return node;
        node = stack->tree->nodes[node].parent;
    }
    return PATH_NONE;
}

/* From the loop to the line that it runs. How a loop came to run is not always known. */
static bool go_into_python(struct shadow_stack *stack) {
    const uint8_t kind = stack->tree->nodes[stack->node].kind;
    const bool unsure = kind == PATH_GAP || kind == PATH_OUTER || kind == PATH_START;
    stack->scope_node = PATH_NONE;
    stack->inner =
        shadow_python_node(&stack->python, stack->tree, stack->functions, stack->node, unsure);
    return stack->inner != PATH_NONE;
}

static bool move_python(struct shadow_stack *stack, const struct trace_python *to) {
    const bool begins = to->depth > stack->python.count || to->begins;
    return shadow_python_move(&stack->python, to, begins ? active_loop(stack) : PATH_NONE,
                              stack->counting);
}

/* Tells where it is, if the instructions count: of others nobody knows how many there are. */
static inline bool tell(struct shadow_stack *stack, const struct code *code, uint32_t insn) {
    if (stack->python.count && is_loop(stack, stack->node)) {
        if (!go_into_python(stack))
            return false;
    } else if (!stack->functions->extents.inlined)
        stack->inner = stack->node;
    else if (!go_inside(stack, code, insn))
        return false;
    if (stack->inner == stack->told || !stack->counting)
        return true;
    stack->told = stack->inner;
    return stack->move(stack->move_context, stack->position, stack->inner);
}

static inline bool land(struct shadow_stack *stack, const struct code *code, uint32_t insn) {
    return shadow_arrive(stack, code, insn) && tell(stack, code, insn);
}

enum { LEAVES = DYN_TAKEN | DYN_SIGNAL | DYN_GAP };

bool shadow_stack_land(struct shadow_stack *stack, const struct code *code, uint32_t insn) {
    if (stack->next == UINT64_MAX) { /* nothing was walked */
        stack->left.any = true;
        stack->left.flags = DYN_GAP;
    }
    return !stack->left.any || shadow_arrive(stack, code, insn);
}

bool shadow_stack_walk(struct shadow_stack *stack, const struct code *code,
                       const struct trace_batch *piece, bool count) {
    const struct dynamic_insn *insns = piece->insns;
    stack->counting = count;
    const uint32_t insn_count = piece->insn_count;
    if (!insn_count)
        return true;
    if (!array_zeroed_room(stack->within, stack->within_capacity, code->insn_count))
        return false;
    if (stack->resumes)
        stack->next = piece->first_insn;
    stack->resumes = false;
    if (piece->first_insn != stack->next) {
        stack->left.any = true;
        stack->left.flags = DYN_GAP;
    }
    stack->next = piece->first_insn + insn_count;
    if ((stack->left.any && !shadow_arrive(stack, code, insns[0].insn)) ||
        !tell(stack, code, insns[0].insn))
        return false;
    const uint64_t first = stack->position;
    const bool inlined = stack->functions->extents.inlined;
    uint64_t faults = 0;
    const struct trace_python *python =
        piece->python +
        first_where(i, piece->python_count, piece->python[i].position > piece->first_insn);
    const struct trace_python *python_end = piece->python + piece->python_count;
    for (uint32_t i = 0; i < insn_count; i++) {
        const uint16_t flags = insns[i].flags;
        if (__builtin_expect(python < python_end, 0) && python->position == piece->first_insn + i) {
            stack->position = first + (count ? i - faults : 0);
            for (; python < python_end && python->position == piece->first_insn + i; python++)
                if (!move_python(stack, python))
                    return false;
            if (!tell(stack, code, insns[i].insn))
                return false;
        }
        if (inlined) {
            stack->position = first + (count ? i - faults : 0);
            if (!tell(stack, code, insns[i].insn))
                return false;
        }
        if (!(flags & (LEAVES | DYN_FAULT)) || (flags == DYN_TAKEN && stack->within[insns[i].insn]))
            continue;
        faults += (flags & DYN_FAULT) != 0;
        if (!(flags & LEAVES))
            continue;
        depart(stack, code, piece, &insns[i]);
        stack->position = first + (count ? i + 1 - faults : 0);
        if (i + 1 < insn_count && !land(stack, code, insns[i + 1].insn))
            return false;
    }
    stack->position = first + (count ? insn_count - faults : 0);
    for (; python < python_end && python->position == piece->first_insn + insn_count; python++)
        if (!move_python(stack, python))
            return false;
    return true;
}