/* Stacks set aside are searched only when nothing else explains where control went; the one that
 * was not used for longest makes room for another. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/shadow_parts.h"
#include "util/array.h"

enum { ASIDE_DEPTH = 8 /* calls of each stack set aside that are looked at */ };

/* Of very deep recursion the outer half is forgotten. */
bool shadow_push(struct shadow_stack *stack, struct shadow_frame frame) {
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
void shadow_set_aside(struct shadow_stack *stack) {
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
bool shadow_split(struct shadow_stack *stack, size_t kept) {
    const struct shadow_frames all = stack->frames;
    struct shadow_frames bottom = {0};
    if (!array_room(bottom.items, bottom.capacity, kept + 1))
        return false;
    assert(all.items && bottom.items); /* there are more than `kept` */
    memcpy(bottom.items, all.items, kept * sizeof *bottom.items);
    bottom.count = kept;
    stack->frames.count -= kept;
    memmove(all.items, all.items + kept, stack->frames.count * sizeof *all.items);
    shadow_set_aside(stack);
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
    shadow_set_aside(stack);
    free(stack->frames.items);
    stack->frames = found;
    stack->frames.count -= depth;
    stack->node = stack->frames.items[stack->frames.count].node;
    stack->counts.switched++;
}

/* The last call at this slot that returns to this place, or, slot 0, at any. */
bool shadow_take_up(struct shadow_stack *stack, uint64_t slot, uint64_t back) {
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

/* The frame whose slot, or, where none is known, whose place it is. */
size_t shadow_find_frame(const struct shadow_stack *stack, uint64_t slot, uint64_t place) {
    const struct shadow_frames *frames = &stack->frames;
    const size_t least = frames->count > SEARCH_MAX ? frames->count - SEARCH_MAX : 0;
    if (!frames->items)
        return 0;
    for (size_t i = frames->count; i-- > least;)
        if (slot ? frames->items[i].slot == slot : frames->items[i].back == place)
            return i;
    return frames->count;
}

/* To an activation further out of the function that holds the instruction. */
bool shadow_unwind_to(struct shadow_stack *stack, const struct code *code, uint32_t insn) {
    struct shadow_frames *frames = &stack->frames;
    const size_t least = frames->count > SEARCH_MAX ? frames->count - SEARCH_MAX : 0;
    for (size_t i = frames->count; i-- > least;)
        if (shadow_holds(stack, code, frames->items[i].node, insn)) {
            frames->count = i;
            stack->node = frames->items[i].node;
            stack->counts.unwound++;
            return true;
        }
    return false;
}