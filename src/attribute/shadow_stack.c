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

/* The first from `i` on that does more than to go on to the next; `end`: none does. */
static inline uint32_t next_leaving(const struct dynamic_insn *insns, uint32_t i, uint32_t end) {
    enum { AT_ONCE = 4, MORE = LEAVES | DYN_FAULT };
    while (
        i + AT_ONCE <= end &&
        !((insns[i].flags | insns[i + 1].flags | insns[i + 2].flags | insns[i + 3].flags) & MORE))
        i += AT_ONCE;
    while (i < end && !(insns[i].flags & MORE))
        i++;
    return i;
}

/* A jump through a table, as of an interpreter's loop, to another place of its function. */
static inline bool stays(const struct shadow_stack *stack, const struct code *code, uint32_t from,
                         uint32_t to) {
    if (code->insns[from].branch != BRANCH_INDIRECT || stack->stub_site != PATH_NONE)
        return false;
    const uint32_t function = path_function_of(stack->functions, code, from);
    return function != FUNCTION_NONE && function == path_function_of(stack->functions, code, to);
}

struct walk {
    const struct code *code;
    const struct trace_batch *piece;
    uint64_t first;  /* instructions that counted before the piece */
    uint64_t faults; /* in it so far */
    const struct trace_python *python, *python_end;
};

static inline void put_position(struct shadow_stack *stack, const struct walk *walk, uint32_t i) {
    stack->position = walk->first + (stack->counting ? i - walk->faults : 0);
}

static bool move_pythons(struct shadow_stack *stack, struct walk *walk, uint32_t i) {
    bool room = true;
    for (; room && walk->python < walk->python_end &&
           walk->python->position == walk->piece->first_insn + i;
         walk->python++)
        room = move_python(stack, walk->python);
    return room;
}

/* The instruction, that may leave for elsewhere. */
static inline bool walk_leaving(struct shadow_stack *stack, struct walk *walk, uint32_t i) {
    const struct dynamic_insn *insn = &walk->piece->insns[i];
    const bool more = i + 1 < walk->piece->insn_count;
    if (insn->flags == DYN_TAKEN &&
        (stack->within[insn->insn] || (more && stays(stack, walk->code, insn->insn, insn[1].insn))))
        return true;
    walk->faults += (insn->flags & DYN_FAULT) != 0;
    if (!(insn->flags & LEAVES))
        return true;
    depart(stack, walk->code, walk->piece, insn);
    put_position(stack, walk, i + 1);
    return !more || land(stack, walk->code, insn[1].insn);
}

static bool walk_insns(struct shadow_stack *stack, struct walk *walk) {
    const struct dynamic_insn *insns = walk->piece->insns;
    const uint32_t insn_count = walk->piece->insn_count;
    const bool inlined = stack->functions->extents.inlined;
    for (uint32_t i = 0; i < insn_count;) {
        const bool moves = walk->python < walk->python_end &&
                           walk->python->position == walk->piece->first_insn + i;
        if (moves || inlined) {
            put_position(stack, walk, i);
            if (!move_pythons(stack, walk, i) || !tell(stack, walk->code, insns[i].insn))
                return false;
        }
        uint32_t end = inlined ? i + 1 : insn_count;
        if (walk->python < walk->python_end &&
            walk->python->position - walk->piece->first_insn < end)
            end = (uint32_t)(walk->python->position - walk->piece->first_insn);
        while ((i = next_leaving(insns, i, end)) < end)
            if (!walk_leaving(stack, walk, i++))
                return false;
    }
    put_position(stack, walk, insn_count);
    return move_pythons(stack, walk, insn_count);
}

bool shadow_stack_walk(struct shadow_stack *stack, const struct code *code,
                       const struct trace_batch *piece, bool count) {
    stack->counting = count;
    if (!piece->insn_count)
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
    stack->next = piece->first_insn + piece->insn_count;
    if ((stack->left.any && !shadow_arrive(stack, code, piece->insns[0].insn)) ||
        !tell(stack, code, piece->insns[0].insn))
        return false;
    const size_t python =
        first_where(i, piece->python_count, piece->python[i].position > piece->first_insn);
    struct walk walk = {.code = code,
                        .piece = piece,
                        .first = stack->position,
                        .python = piece->python + python,
                        .python_end = piece->python + piece->python_count};
    return walk_insns(stack, &walk);
}
