/* A stack is the mapping or block that the last call's return address lies in, and of a mapping
 * that is not for a stack alone, as where Go has its stacks, what lies beside the calls; where no
 * mapping is known, what lies STACK_BYTES around. */
#include "attribute/memory_objects_parts.h"

#include "util/array.h"

enum {
    STACK_BYTES = 8 << 20, /* below a call */
    BESIDE_CALLS = 1 << 12,
    STACK_ABOVE = 1 << 20, /* of it, above the first call seen: arguments, environment */
    FRAMES_SEARCHED = 1 << 12
};

static uint64_t last_slot(const struct shadow_stack *stack) {
    const struct shadow_frames *frames = &stack->frames;
    return frames->count ? frames->items[frames->count - 1].slot : 0;
}

/* [low, high), as far as the stack's calls reach into it, with what may lie a little beside them.
 */
static void narrow(struct memory_view *view, uint64_t slot) {
    const struct shadow_frames *frames = &view->stack->frames;
    uint64_t outermost = slot;
    for (size_t i = 0; i < frames->count && outermost == slot; i++)
        if (frames->items[i].slot > slot)
            outermost = frames->items[i].slot;
    if (slot - view->low > BESIDE_CALLS)
        view->low = slot - BESIDE_CALLS;
    if (view->high > outermost && view->high - outermost > BESIDE_CALLS)
        view->high = outermost + BESIDE_CALLS;
}

static void find_stack(const struct memory_objects *objects, const struct process_memory *memory,
                       struct memory_view *view, uint64_t slot) {
    const struct heap_block *block = heap_blocks_at(&memory->heap, slot);
    const struct range *range = memory_ranges_at(&memory->ranges, slot);
    view->shared = false;
    if (block) {
        view->low = block->base;
        view->high = block->base + block->size;
    } else if (range) {
        view->low = range->start;
        view->high = range->end;
        view->shared = objects->items[range->object].kind != OBJECT_STACK;
    } else {
        const size_t at = memory_ranges_before(&memory->ranges, slot);
        assert(!at || memory->ranges.items);
        const uint64_t below = at ? memory->ranges.items[at - 1].end : 0;
        const uint64_t above =
            at < memory->ranges.count ? memory->ranges.items[at].start : UINT64_MAX;
        view->low = slot - below > STACK_BYTES ? slot - STACK_BYTES : below;
        view->high = above - slot > STACK_ABOVE ? slot + STACK_ABOVE : above;
    }
    if (view->shared)
        narrow(view, slot);
}

/* UINT32_MAX: out of memory. */
static uint32_t frame_object(struct memory_objects *objects, const struct path_tree *tree,
                             uint32_t node) {
    if (!array_zeroed_room(objects->frames, objects->frame_capacity, tree->node_count))
        return UINT32_MAX;
    if (objects->frames[node] == OBJECT_NONE) {
        struct memory_object object = object_of(OBJECT_STACK);
        uint32_t around = node;
        while (tree->nodes[around].kind == PATH_INLINE)
            around = tree->nodes[around].parent;
        object.function = tree->nodes[around].function;
        const uint32_t number = memory_objects_number(objects, &object);
        if (number == UINT32_MAX)
            return UINT32_MAX;
        objects->frames[node] = number;
    }
    return objects->frames[node];
}

/* What heap is that is accessed at a node and not allocated: the outermost routine that allocates
 * takes it for its caller. UINT32_MAX: out of memory. */
static uint32_t asked_object(struct memory_objects *objects, const struct shadow_stack *stack) {
    const struct path_node *nodes = stack->tree->nodes;
    const uint32_t node = stack->node;
    struct memory_object object = object_of(OBJECT_HEAP);
    if (!array_zeroed_room(objects->asked, objects->asked_capacity, stack->tree->node_count))
        return UINT32_MAX;
    if (objects->asked[node] != OBJECT_NONE)
        return objects->asked[node];
    uint32_t at = node;
    for (; at != PATH_NONE && objects->asked[at] == OBJECT_NONE; at = nodes[at].parent)
        if (nodes[at].function != FUNCTION_NONE &&
            stack->functions->items[nodes[at].function].allocates)
            object.path = at;
    uint32_t asked = at == PATH_NONE ? objects->allocator : objects->asked[at];
    if (asked == objects->allocator && object.path != PATH_NONE)
        asked = memory_objects_number(objects, &object);
    if (asked != UINT32_MAX)
        objects->asked[node] = asked;
    return asked;
}

/* Frames further out lie at higher addresses. */
uint32_t memory_objects_frame(struct memory_objects *objects, const struct memory_view *view,
                              uint64_t address) {
    const struct shadow_stack *stack = view->stack;
    const struct shadow_frames *frames = &stack->frames;
    const size_t least = frames->count > FRAMES_SEARCHED ? frames->count - FRAMES_SEARCHED : 0;
    uint32_t node = stack->node;
    uint64_t slot = 0;
    for (size_t i = frames->count; i-- > least && slot + 8 <= address; node = frames->items[i].node)
        if ((slot = frames->items[i].slot) && address < slot + 8)
            break;
    return frame_object(objects, stack->tree, node);
}

bool memory_objects_stand(struct memory_objects *objects, struct memory_view *view) {
    const uint64_t slot = last_slot(view->stack);
    struct process_memory *memory = memory_of(objects, view->process);
    if (!memory)
        return false;
    view->memory = memory;
    if (slot && slot != view->slot) {
        if (view->shared || slot - view->low >= view->high - view->low)
            find_stack(objects, memory, view, slot);
        view->slot = slot;
    }
    view->top = slot ? slot + 8 : 0;
    view->frame = frame_object(objects, view->stack->tree, view->stack->node);
    view->asked = asked_object(objects, view->stack);
    return view->frame != UINT32_MAX && view->asked != UINT32_MAX;
}
