/* Inside of this room: what the files of the shadow stack share. shadow_stack.c walks instructions,
 * shadow_arrive.c goes where calls and returns lead, shadow_jump.c where jumps do, shadow_signal.c
 * where signals do, shadow_frames.c keeps the calls of one stack and of those set aside. */
#pragma once

#include "attribute/shadow_stack.h"

enum {
    FRAMES_MAX = 1 << 16,
    SEARCH_MAX = 1 << 12, /* frames that are searched */
    FAR_BYTES = 1 << 16,  /* between two calls' slots on one stack, at most */
    FRESH_BYTES = 2048    /* likewise, where another stack may have begun */
};

/* Where an instruction lies, whatever address it is mapped at. */
static inline uint64_t shadow_place(const struct shadow_stack *stack, const struct code *code,
                                    uint32_t insn, uint32_t behind) {
    const struct static_insn *at = &code->insns[insn];
    return (uint64_t)path_image(stack->functions, code, at->image) << 48 ^ (at->offset + behind);
}

static inline uint64_t shadow_place_after(const struct shadow_stack *stack, const struct code *code,
                                          uint32_t insn) {
    return shadow_place(stack, code, insn, code->insns[insn].length);
}

/* ---- nodes ---- */

static inline uint32_t shadow_function(const struct shadow_stack *stack, uint32_t node) {
    return stack->tree->nodes[node].function;
}

static inline bool shadow_holds(const struct shadow_stack *stack, const struct code *code,
                                uint32_t node, uint32_t insn) {
    const uint32_t function = shadow_function(stack, node);
    return function != FUNCTION_NONE && path_function_holds(stack->functions, code, function, insn);
}

/* The function that a node is of, or that what is inlined there, or run by it, is a part of. */
static inline uint32_t shadow_base(const struct shadow_stack *stack, uint32_t node) {
    while (stack->tree->nodes[node].kind == PATH_INLINE ||
           stack->tree->nodes[node].kind == PATH_PYTHON)
        node = stack->tree->nodes[node].parent;
    return node;
}

/* What calls from where control is are called by. */
static inline uint32_t shadow_caller(const struct shadow_stack *stack) {
    return shadow_base(stack, stack->inner) == stack->node ? stack->inner : stack->node;
}

static inline bool shadow_go_to(struct shadow_stack *stack, uint32_t node) {
    if (node == PATH_NONE)
        return false;
    stack->node = node;
    return true;
}

/* To a node whose function is entered. */
static inline bool shadow_go_into(struct shadow_stack *stack, uint32_t node) {
    if (node == PATH_NONE)
        return false;
    stack->tree->nodes[node].calls += stack->counting;
    stack->node = node;
    return true;
}

/* Enters the function at `insn` below a node. */
static inline bool shadow_enter(struct shadow_stack *stack, const struct code *code, uint32_t below,
                                enum path_kind kind, uint32_t site, uint32_t insn) {
    const uint32_t function = path_function_at(stack->functions, code, insn);
    return function != FUNCTION_NONE &&
           shadow_go_into(stack, path_tree_child(stack->tree, below, kind, site, function));
}

static inline struct shadow_frame *shadow_top(struct shadow_stack *stack) {
    struct shadow_frames *frames = &stack->frames;
    return frames->count ? &frames->items[frames->count - 1] : NULL;
}

/* ---- shadow_frames.c ---- */

/* Of very deep recursion the outer half is forgotten. False: out of memory. */
bool shadow_push(struct shadow_stack *stack, struct shadow_frame frame);
/* Sets the frames aside; the present stack has none then. */
void shadow_set_aside(struct shadow_stack *stack);
/* The frames above the first `kept` are of another stack: they are set aside, as a copy. False: out
 * of memory. */
bool shadow_split(struct shadow_stack *stack, size_t kept);
/* Takes up the stack set aside whose last call at this slot returns to this place, or, slot 0, that
 * at any. False: there is none. */
bool shadow_take_up(struct shadow_stack *stack, uint64_t slot, uint64_t back);
/* The frame whose slot, or, where none is known, whose place it is; as many as there are: none. */
size_t shadow_find_frame(const struct shadow_stack *stack, uint64_t slot, uint64_t place);
/* To an activation further out of the function that holds the instruction. False: none is there. */
bool shadow_unwind_to(struct shadow_stack *stack, const struct code *code, uint32_t insn);

/* ---- shadow_jump.c ---- */

/* Where the last instruction, a jump, led. False: out of memory. */
bool shadow_jumped(struct shadow_stack *stack, const struct code *code, uint32_t insn);
/* A jump, or a return that is none, to where a function begins; likewise. */
bool shadow_jump_to_function(struct shadow_stack *stack, const struct code *code, uint32_t insn);
/* One of the functions that jumped to each other up to here goes on. False: none does. */
bool shadow_jump_back(struct shadow_stack *stack, const struct code *code, uint32_t insn);
/* Into the middle of another function. False: out of memory. */
bool shadow_jump_into(struct shadow_stack *stack, const struct code *code, uint32_t insn);
bool shadow_is_linkage(const struct shadow_stack *stack, uint32_t function);
/* Before a call or jump to an entry of the linkage table. */
void shadow_enter_linkage(struct shadow_stack *stack, enum path_kind kind);

/* ---- shadow_signal.c ---- */

/* Where a signal led, or the end of its handler. False: out of memory. */
bool shadow_signalled(struct shadow_stack *stack, const struct code *code, uint32_t insn);
/* The call on top, which a handler had the interrupted function make, has returned to this. False:
 * out of memory. */
bool shadow_left_pushed(struct shadow_stack *stack, const struct code *code, uint32_t insn);

/* ---- shadow_arrive.c ---- */

/* Where the last instruction leads of itself, which is to this one. False: out of memory. */
bool shadow_follow(struct shadow_stack *stack, const struct code *code, uint32_t insn);

/* Where the last instruction, which control left other than to the next one, led. False: out of
 * memory. */
bool shadow_arrive(struct shadow_stack *stack, const struct code *code, uint32_t insn);
