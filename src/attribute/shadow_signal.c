/* - A handler of a signal returns to code that makes a system call, after which control is where
 * the signal came, with the frames of then.
 * - If it is where another function begins, the handler has written a return address on the stack
 *   and changed the place to go on at: a call that the interrupted function makes, as of
 *   runtime.asyncPreempt in Go. Nothing tells the slot of its return address.
 * - A signal mostly comes where a block of the emulator ends, between a branch and what it leads
 * to: first the branch is followed, where it is known what that is. */
#include "attribute/shadow_parts.h"

/* Goes where the last instruction, which the signal came behind, leads. False: out of memory. */
static bool follow_interrupted(struct shadow_stack *stack, const struct code *code) {
    const struct departure *left = &stack->left;
    const struct shadow_frame *top = shadow_top(stack);
    if (!(left->flags & DYN_TAKEN))
        return true;
    if (left->branch == BRANCH_RETURN) {
        if (top && (top->kind == FRAME_PUSHED || (top->slot && top->slot == left->slot))) {
            stack->node = top->node;
            stack->frames.count--;
        }
        return true;
    }
    const uint32_t target = code->insns[left->insn].target;
    return target == UINT32_MAX || shadow_follow(stack, code, target);
}

static bool handler_begins(struct shadow_stack *stack, const struct code *code, uint32_t insn) {
    if (!follow_interrupted(stack, code))
        return false;
    const bool in_stub = stack->stub_site != PATH_NONE;
    const struct shadow_frame frame = {.node = stack->node,
                                       .site = in_stub ? stack->stub_site : stack->left.insn,
                                       .stub_kind = in_stub ? stack->stub_kind : PATH_CALL,
                                       .kind = FRAME_SIGNAL};
    stack->stub_site = PATH_NONE;
    stack->counts.signals++;
    if (!shadow_push(stack, frame) ||
        !shadow_enter(stack, code, shadow_caller(stack), PATH_SIGNAL, stack->left.insn, insn))
        return false;
    stack->functions->items[shadow_function(stack, stack->node)].handler = true;
    return true;
}

static bool is_handler(const struct shadow_stack *stack, uint32_t function) {
    return function != FUNCTION_NONE && stack->functions->items[function].handler;
}

/* Where the signal of a frame came, or what is called from there: by another signal that waited for
 * the end of the handler, or as the handler had it. */
static bool go_on(struct shadow_stack *stack, const struct code *code, struct shadow_frame frame,
                  uint32_t insn) {
    const uint32_t function = path_function_of(stack->functions, code, insn);
    stack->node = frame.node;
    if (shadow_is_linkage(stack, function)) {
        stack->stub_site = frame.site;
        stack->stub_kind = frame.stub_kind;
        stack->stub_lazy = false;
        return true;
    }
    if (shadow_holds(stack, code, frame.node, insn))
        return true;
    if (!path_function_begins(stack->functions, code, insn))
        return shadow_jump_into(stack, code, insn);
    if (is_handler(stack, function)) {
        stack->left = (struct departure){.insn = frame.site};
        return handler_begins(stack, code, insn);
    }
    frame.kind = FRAME_PUSHED;
    stack->counts.calls++;
    return shadow_push(stack, frame) &&
           shadow_enter(stack, code, shadow_caller(stack), PATH_CALL, frame.site, insn);
}

bool shadow_left_pushed(struct shadow_stack *stack, const struct code *code, uint32_t insn) {
    return go_on(stack, code, stack->frames.items[--stack->frames.count], insn);
}

/* The signal whose handler has ended before this instruction; as many as there are frames: none. */
static size_t ended_signal(const struct shadow_stack *stack, const struct code *code,
                           uint32_t insn) {
    const struct shadow_frames *frames = &stack->frames;
    for (size_t i = frames->count; i-- > 0;) {
        const struct shadow_frame *frame = &frames->items[i];
        if (frame->kind == FRAME_RESTORING)
            return i;
        if (frame->kind == FRAME_SIGNAL)
            return shadow_holds(stack, code, frame->node, insn) &&
                           !path_function_begins(stack->functions, code, insn)
                       ? i
                       : frames->count;
    }
    return frames->count;
}

bool shadow_signalled(struct shadow_stack *stack, const struct code *code, uint32_t insn) {
    if (code->insns[stack->left.insn].flags & INSN_SYSCALL) {
        const size_t ended = ended_signal(stack, code, insn);
        if (ended < stack->frames.count) {
            const struct shadow_frame frame = stack->frames.items[ended];
            stack->frames.count = ended;
            return go_on(stack, code, frame, insn);
        }
    }
    if (!path_function_begins(stack->functions, code, insn) &&
        path_function_of(stack->functions, code, insn) != FUNCTION_NONE)
        return shadow_jump_into(stack, code, insn);
    return handler_begins(stack, code, insn);
}
