/* How control that does not come and go by calls and returns is followed.
 *
 * - A return takes its address from the slot of some call's frame: the callers further in are gone.
 *   If it does not go where that call would have returned to, as when a C++ exception lands, the
 *   caller is still the same.
 * - A jump into the middle of another function leads to the innermost activation of it (longjmp),
 * or to a stack set aside whose last call returns there (a coroutine). If there is none, the
 * function is in pieces, as memcpy is in the C library, and nothing has changed.
 * - A jump to where a function begins is a tail call: it is called by the function that jumps.
 *   Functions that jump to each other in turn are folded.
 * - A call far from the last one's slot is on another stack. The frames of the old one are set
 *   aside, to be found again by a slot.
 * - A call near the last slot, but above it, finds the frames below it dead.
 * - A handler of a signal returns to code that makes a system call, after which control is back.
 * - An entry of the linkage table counts for its caller, until it jumps to the function.
 *
 * Stacks set aside are searched only when nothing else explains where control went; the one that
 * was not used for longest makes room for another. */
#include "attribute/shadow_stack.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/order.h"

enum {
    FRAMES_MAX = 1 << 16,
    SEARCH_MAX = 1 << 12, /* frames that are searched */
    ASIDE_DEPTH = 8,      /* of each stack set aside */
    FAR_BYTES = 1 << 16,  /* between two calls' slots on one stack, at most */
    FRESH_BYTES = 2048    /* likewise, where another stack may have begun */
};

/* Where an instruction lies, whatever address it is mapped at. */
static uint64_t place_of_insn(const struct code *code, uint32_t insn, uint32_t behind) {
    const struct static_insn *at = &code->insns[insn];
    return (uint64_t)at->image << 48 ^ (at->offset + behind);
}

static uint64_t place_after(const struct code *code, uint32_t insn) {
    return place_of_insn(code, insn, code->insns[insn].length);
}

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

/* ---- nodes ---- */

static uint32_t function_of_node(const struct shadow_stack *stack, uint32_t node) {
    return stack->tree->nodes[node].function;
}

static bool holds(const struct shadow_stack *stack, const struct code *code, uint32_t node,
                  uint32_t insn) {
    const uint32_t function = function_of_node(stack, node);
    return function != FUNCTION_NONE && path_function_holds(stack->functions, code, function, insn);
}

/* The function that a node is of, or that what is inlined there, or run by it, is a part of. */
static uint32_t base_of(const struct shadow_stack *stack, uint32_t node) {
    while (stack->tree->nodes[node].kind == PATH_INLINE ||
           stack->tree->nodes[node].kind == PATH_PYTHON)
        node = stack->tree->nodes[node].parent;
    return node;
}

/* What calls from where control is are called by. */
static uint32_t caller(const struct shadow_stack *stack) {
    return base_of(stack, stack->inner) == stack->node ? stack->inner : stack->node;
}

static bool go_to(struct shadow_stack *stack, uint32_t node) {
    if (node == PATH_NONE)
        return false;
    stack->node = node;
    return true;
}

/* To a node whose function is entered. */
static bool go_into(struct shadow_stack *stack, uint32_t node) {
    if (node == PATH_NONE)
        return false;
    stack->tree->nodes[node].calls += stack->counting;
    stack->node = node;
    return true;
}

/* Enters the function at `insn` below a node. */
static bool enter(struct shadow_stack *stack, const struct code *code, uint32_t below,
                  enum path_kind kind, uint32_t site, uint32_t insn) {
    const uint32_t function = path_function_at(stack->functions, code, insn);
    return function != FUNCTION_NONE &&
           go_into(stack, path_tree_child(stack->tree, below, kind, site, function));
}

/* ---- frames ---- */

static struct shadow_frame *top_frame(struct shadow_stack *stack) {
    struct shadow_frames *frames = &stack->frames;
    return frames->count ? &frames->items[frames->count - 1] : NULL;
}

/* Of very deep recursion the outer half is forgotten. */
static bool push(struct shadow_stack *stack, struct shadow_frame frame) {
    struct shadow_frames *frames = &stack->frames;
    if (frames->count == FRAMES_MAX) {
        frames->count /= 2;
        memmove(frames->items, frames->items + frames->count,
                frames->count * sizeof *frames->items);
    }
    return array_push(frames->items, frames->capacity, frames->count, frame);
}

/* Of a deep stack that is set aside the innermost frames are kept, which alone are searched. */
static void trim(struct shadow_frames *frames) {
    if (frames->count > SEARCH_MAX) {
        memmove(frames->items, frames->items + frames->count - SEARCH_MAX,
                SEARCH_MAX * sizeof *frames->items);
        frames->count = SEARCH_MAX;
    }
    struct shadow_frame *less = frames->capacity > 2 * SEARCH_MAX
                                    ? realloc(frames->items, SEARCH_MAX * sizeof *frames->items)
                                    : NULL;
    if (less) {
        frames->items = less;
        frames->capacity = SEARCH_MAX;
    }
}

/* Sets the frames aside; the present stack has none then. */
static void set_aside(struct shadow_stack *stack) {
    struct shadow_frames *oldest = &stack->aside[0];
    if (!stack->frames.count)
        return;
    if (stack->aside_count < SHADOW_ASIDE)
        oldest = &stack->aside[stack->aside_count++];
    else
        for (size_t i = 0; i < SHADOW_ASIDE; i++)
            if (stack->aside[i].stamp < oldest->stamp)
                oldest = &stack->aside[i];
    const struct shadow_frames room = *oldest;
    trim(&stack->frames);
    *oldest = stack->frames;
    oldest->stamp = ++stack->stamp;
    oldest->node = stack->node;
    stack->frames = room;
    stack->frames.count = 0;
}

/* The frames above the first `kept` are of another stack: they are set aside, as a copy. */
static bool split(struct shadow_stack *stack, size_t kept) {
    const struct shadow_frames all = stack->frames;
    struct shadow_frames bottom = {0};
    if (!array_room(bottom.items, bottom.capacity, kept + 1))
        return false;
    memcpy(bottom.items, all.items, kept * sizeof *bottom.items);
    bottom.count = kept;
    stack->frames.count -= kept;
    memmove(all.items, all.items + kept, stack->frames.count * sizeof *all.items);
    set_aside(stack);
    free(stack->frames.items);
    stack->frames = bottom;
    return true;
}

/* Takes a stack up again whose `depth`-th last call now returns. */
static void take_up(struct shadow_stack *stack, struct shadow_frames *aside, size_t depth) {
    const struct shadow_frames found = *aside;
    struct shadow_frames *last = &stack->aside[--stack->aside_count];
    *aside = *last;
    *last = (struct shadow_frames){0};
    set_aside(stack);
    free(stack->frames.items);
    stack->frames = found;
    stack->frames.count -= depth;
    stack->node = stack->frames.items[stack->frames.count].node;
    stack->counts.switched++;
}

/* The last call at this slot that returns to this place, or, slot 0, at any. */
static bool take_up_matching(struct shadow_stack *stack, uint64_t slot, uint64_t back) {
    struct shadow_frames *best = NULL;
    size_t best_depth = 0;
    for (size_t i = 0; i < stack->aside_count; i++) {
        struct shadow_frames *aside = &stack->aside[i];
        for (size_t depth = 1; depth <= ASIDE_DEPTH && depth <= aside->count; depth++) {
            const struct shadow_frame *frame = &aside->items[aside->count - depth];
            if (frame->back == back && frame->back && (!slot || frame->slot == slot) &&
                (!best || aside->stamp > best->stamp)) {
                best = aside;
                best_depth = depth;
            }
        }
    }
    if (best)
        take_up(stack, best, best_depth);
    return best;
}

/* ---- where control went ---- */

/* To an activation further out of the function that holds the instruction. */
static bool unwind_to(struct shadow_stack *stack, const struct code *code, uint32_t insn) {
    struct shadow_frames *frames = &stack->frames;
    const size_t least = frames->count > SEARCH_MAX ? frames->count - SEARCH_MAX : 0;
    for (size_t i = frames->count; i-- > least;)
        if (holds(stack, code, frames->items[i].node, insn)) {
            frames->count = i;
            stack->node = frames->items[i].node;
            stack->counts.unwound++;
            return true;
        }
    return false;
}

/* A function whose callers are not known. */
static bool lose(struct shadow_stack *stack, const struct code *code, uint32_t insn) {
    const struct shadow_frame *top = top_frame(stack);
    stack->counts.lost++;
    return enter(stack, code, top ? top->node : stack->root, PATH_GAP, PATH_NONE, insn);
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
        return enter(stack, code, stack->root, PATH_STACK, PATH_NONE, insn);
    const uint32_t outer = path_tree_add(tree, stack->root, PATH_OUTER, PATH_NONE, function);
    if (outer == PATH_NONE || function == FUNCTION_NONE)
        return false;
    tree->nodes[bottom].parent = outer;
    return go_to(stack, outer);
}

/* A jump, or a return that is none, to where a function begins. */
static bool jump_to_function(struct shadow_stack *stack, const struct code *code, uint32_t insn) {
    struct path_tree *tree = stack->tree;
    const struct path_node *node = &tree->nodes[stack->node];
    const uint32_t function = path_function_at(stack->functions, code, insn);
    stack->fresh = true;
    if (function == FUNCTION_NONE)
        return false;
    if (function_of_node(stack, stack->node) != FUNCTION_NONE &&
        stack->functions->items[function_of_node(stack, stack->node)].resolver)
        return enter(stack, code, node->parent, node->kind, node->site, insn);
    if (node->parent == stack->root && !stack->frames.count)
        return enter(stack, code, stack->root, PATH_STACK, PATH_NONE, insn);
    for (uint32_t at = stack->node;; at = base_of(stack, tree->nodes[at].parent)) {
        if (function_of_node(stack, at) == function)
            return go_into(stack, at);
        if (tree->nodes[at].kind != PATH_JUMP)
            break;
    }
    return enter(stack, code, caller(stack), PATH_JUMP, stack->left.insn, insn);
}

/* One of the functions that jumped to each other up to here goes on. */
static bool jump_back(struct shadow_stack *stack, const struct code *code, uint32_t insn) {
    const struct path_tree *tree = stack->tree;
    for (uint32_t at = stack->node; at != stack->root;
         at = base_of(stack, tree->nodes[at].parent)) {
        if (holds(stack, code, at, insn))
            return go_to(stack, at);
        if (tree->nodes[at].kind != PATH_JUMP)
            break;
    }
    return false;
}

/* Into the middle of another function. */
static bool jump_into(struct shadow_stack *stack, const struct code *code, uint32_t insn) {
    const uint64_t place = place_of_insn(code, insn, 0);
    if (jump_back(stack, code, insn) || stack->left.branch == BRANCH_JUMP ||
        stack->left.branch == BRANCH_CONDITIONAL)
        return true;
    for (size_t i = 0; i < SHADOW_RECENT; i++)
        if (stack->left.recent[i] && take_up_matching(stack, stack->left.recent[i], place))
            return true;
    (void)(unwind_to(stack, code, insn) || take_up_matching(stack, 0, place));
    return true; /* else a function in pieces */
}

/* From the linkage table to a function. What is reached by way of its first entry finds the
 * function that is wanted, and goes on there. */
static bool left_linkage(struct shadow_stack *stack, const struct code *code, uint32_t insn) {
    const uint32_t site = stack->stub_site;
    stack->stub_site = PATH_NONE;
    stack->fresh = false; /* on the stack of the call of the entry */
    if (!enter(stack, code, caller(stack), (enum path_kind)stack->stub_kind, site, insn))
        return false;
    stack->functions->items[function_of_node(stack, stack->node)].resolver |= stack->stub_lazy;
    return true;
}

static bool is_linkage(const struct shadow_stack *stack, uint32_t function) {
    return function != FUNCTION_NONE && stack->functions->items[function].linkage;
}

/* Before a call or jump to an entry of the linkage table. */
static void enter_linkage(struct shadow_stack *stack, enum path_kind kind) {
    stack->stub_site = stack->left.insn;
    stack->stub_kind = (uint8_t)kind;
    stack->stub_lazy = false;
}

/* From the linkage table to a part of it: entries without a name are code of the same file that
 * only unwind tables tell of. */
static bool stays_in_linkage(const struct shadow_stack *stack, const struct code *code, uint32_t to,
                             uint32_t insn) {
    return stack->left.branch != BRANCH_INDIRECT || is_linkage(stack, to) ||
           (to != FUNCTION_NONE && !stack->functions->items[to].named &&
            code->insns[insn].image == code->insns[stack->left.insn].image);
}

static bool jumped(struct shadow_stack *stack, const struct code *code, uint32_t insn) {
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
    if (is_linkage(stack, to)) {
        enter_linkage(stack, PATH_JUMP);
        return true;
    }
    const bool begins = path_function_begins(stack->functions, code, insn);
    if (from == FUNCTION_NONE && to == FUNCTION_NONE && !begins) {
        if (stack->left.branch != BRANCH_INDIRECT)
            stack->within[stack->left.insn] = 1;
        return true;
    }
    return begins ? jump_to_function(stack, code, insn) : jump_into(stack, code, insn);
}

/* ---- calls and returns ---- */

/* Before a call whose return address lies at `slot`: frames that cannot be there any more go, and
 * those of another stack are set aside. */
static bool make_way(struct shadow_stack *stack, const struct code *code, uint64_t slot) {
    const struct shadow_frame *top = top_frame(stack);
    const bool fresh = stack->fresh;
    stack->fresh = false;
    if (!top || !top->slot || !slot)
        return true;
    const uint64_t below = top->slot - slot, above = slot - top->slot;
    if (below - 1 < (fresh ? FRESH_BYTES : FAR_BYTES))
        return true;
    if (above < (fresh ? FRESH_BYTES : FAR_BYTES)) {
        uint32_t caller = stack->node;
        while ((top = top_frame(stack)) && top->slot && slot - top->slot < FAR_BYTES) {
            if (holds(stack, code, top->node, stack->left.insn))
                caller = top->node;
            stack->frames.count--;
        }
        return go_to(stack, caller);
    }
    set_aside(stack);
    stack->counts.switched++;
    if (!fresh)
        return true;
    return enter(stack, code, stack->root, PATH_STACK, PATH_NONE, stack->left.insn);
}

static bool called(struct shadow_stack *stack, const struct code *code, uint32_t insn) {
    const struct departure *left = &stack->left;
    const uint64_t back = place_after(code, left->insn);
    if (place_of_insn(code, insn, 0) == back)
        return true; /* to learn its own address */
    const uint32_t function = path_function_at(stack->functions, code, insn);
    stack->counts.calls++;
    if (function == FUNCTION_NONE || !make_way(stack, code, left->slot) ||
        !push(stack, (struct shadow_frame){left->slot, back, stack->node, false}))
        return false;
    if (is_linkage(stack, function)) {
        enter_linkage(stack, PATH_CALL);
        return true;
    }
    return go_into(stack,
                   path_tree_child(stack->tree, caller(stack), PATH_CALL, left->insn, function));
}

/* The frame whose slot, or, where none is known, whose place it is. */
static size_t find_frame(const struct shadow_stack *stack, uint64_t slot, uint64_t place) {
    const struct shadow_frames *frames = &stack->frames;
    const size_t least = frames->count > SEARCH_MAX ? frames->count - SEARCH_MAX : 0;
    if (!frames->items)
        return 0;
    for (size_t i = frames->count; i-- > least;)
        if (slot ? frames->items[i].slot == slot : frames->items[i].back == place)
            return i;
    return frames->count;
}

/* A return that no call explains, on the present stack or on one that begins. */
static bool return_astray(struct shadow_stack *stack, const struct code *code, uint32_t insn) {
    const uint64_t slot = stack->left.slot;
    struct shadow_frame *top = top_frame(stack);
    if (top && !top->back)
        return top->restoring = true;
    if (path_function_begins(stack->functions, code, insn)) {
        if (!top || !top->slot || !slot || top->slot - slot < FRESH_BYTES)
            return jump_to_function(stack, code, insn);
        set_aside(stack);
        stack->counts.switched++;
        return enter(stack, code, stack->root, PATH_STACK, PATH_NONE, insn);
    }
    if (holds(stack, code, stack->node, insn) || jump_back(stack, code, insn) ||
        unwind_to(stack, code, insn))
        return true;
    while (slot && (top = top_frame(stack)) && top->slot && slot - top->slot < FAR_BYTES)
        stack->frames.count--;
    return top ? lose(stack, code, insn) : return_outwards(stack, code, insn);
}

static bool returned(struct shadow_stack *stack, const struct code *code, uint32_t insn) {
    struct shadow_frames *frames = &stack->frames;
    const struct shadow_frame *top = top_frame(stack);
    const uint64_t slot = stack->left.slot, place = place_of_insn(code, insn, 0);
    stack->fresh = false;
    if (top && top->slot == slot && top->back == place) {
        stack->node = top->node;
        frames->count--;
        return true;
    }
    const size_t found = find_frame(stack, slot, place);
    if (found == frames->count)
        return take_up_matching(stack, slot, place) || return_astray(stack, code, insn);
    assert(frames->items); /* it has more than `found` */
    const bool exact = frames->items[found].back == place;
    const uint32_t node = frames->items[found].node;
    if (found + 1 < frames->count) {
        stack->counts.unwound++;
        if (exact && !split(stack, found + 1))
            return false;
    }
    frames->count = found;
    stack->node = node;
    if (exact || holds(stack, code, node, insn))
        return true;
    return path_function_begins(stack->functions, code, insn) ? jump_to_function(stack, code, insn)
                                                              : jump_into(stack, code, insn);
}

/* ---- signals and gaps ---- */

static bool signalled(struct shadow_stack *stack, const struct code *code, uint32_t insn) {
    struct shadow_frames *frames = &stack->frames;
    const bool begins = path_function_begins(stack->functions, code, insn);
    if (code->insns[stack->left.insn].flags & INSN_SYSCALL)
        for (size_t i = frames->count; i-- > 0;) {
            const struct shadow_frame frame = frames->items[i];
            if (frame.back)
                continue;
            if (!frame.restoring && !(holds(stack, code, frame.node, insn) && !begins))
                break;
            frames->count = i;
            stack->node = frame.node;
            if (holds(stack, code, frame.node, insn))
                return true;
            return begins ? jump_to_function(stack, code, insn) : jump_into(stack, code, insn);
        }
    if (!begins && path_function_of(stack->functions, code, insn) != FUNCTION_NONE)
        return jump_into(stack, code, insn);
    stack->counts.signals++;
    return push(stack, (struct shadow_frame){.node = stack->node}) &&
           enter(stack, code, caller(stack), PATH_SIGNAL, stack->left.insn, insn);
}

/* Instructions are missing before this one. */
static bool missed(struct shadow_stack *stack, const struct code *code, uint32_t insn) {
    stack->left.any = false;
    stack->stub_site = PATH_NONE;
    if (stack->node == stack->root) {
        const uint32_t function = path_function_at(stack->functions, code, insn);
        return function != FUNCTION_NONE &&
               go_to(stack,
                     path_tree_add(stack->tree, stack->root, PATH_START, PATH_NONE, function));
    }
    if (holds(stack, code, stack->node, insn) || unwind_to(stack, code, insn))
        return true;
    stack->counts.lost_gaps++;
    return lose(stack, code, insn);
}

/* ---- instructions ---- */

static bool arrive(struct shadow_stack *stack, const struct code *code, uint32_t insn) {
    stack->left.any = false;
    if (stack->left.flags & DYN_GAP)
        return missed(stack, code, insn);
    if (stack->left.flags & DYN_SIGNAL)
        return signalled(stack, code, insn);
    switch (stack->left.branch) {
    case BRANCH_CALL:
    case BRANCH_INDIRECT_CALL:
        return called(stack, code, insn);
    case BRANCH_RETURN:
        return returned(stack, code, insn);
    case BRANCH_CONDITIONAL:
    case BRANCH_JUMP:
    case BRANCH_INDIRECT:
        return jumped(stack, code, insn);
    default:
        return true;
    }
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
    if (!inlined->count || !holds(stack, code, stack->node, insn))
        return true;
    for (uint32_t i = 0; i < inlined->count && stack->inner != PATH_NONE; i++)
        stack->inner = path_tree_child(stack->tree, stack->inner, PATH_INLINE, PATH_NONE,
                                       inlined->functions[i]);
    return stack->inner != PATH_NONE;
}

/* ---- Python ---- */

static bool is_loop(const struct shadow_stack *stack, uint32_t node) {
    const uint32_t function = function_of_node(stack, node);
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
    return arrive(stack, code, insn) && tell(stack, code, insn);
}

enum { LEAVES = DYN_TAKEN | DYN_SIGNAL | DYN_GAP };

bool shadow_stack_walk(struct shadow_stack *stack, const struct code *code,
                       const struct trace_batch *piece, bool count) {
    const struct dynamic_insn *insns = piece->insns;
    stack->counting = count;
    const uint32_t insn_count = piece->insn_count;
    if (!insn_count)
        return true;
    if (!array_zeroed_room(stack->within, stack->within_capacity, code->insn_count))
        return false;
    if (piece->first_insn != stack->next) {
        stack->left.any = true;
        stack->left.flags = DYN_GAP;
    }
    stack->next = piece->first_insn + insn_count;
    if ((stack->left.any && !arrive(stack, code, insns[0].insn)) ||
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
