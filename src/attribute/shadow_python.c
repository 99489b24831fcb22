#include "attribute/shadow_python.h"

#include <stdlib.h>

#include "util/array.h"

void shadow_python_free(struct shadow_python *stack) {
    free(stack->frames);
    *stack = (struct shadow_python){0};
}

/* The nodes of frames from this one on are others. */
static void forget_nodes(struct shadow_python *stack, size_t from) {
    for (size_t i = from; i < stack->count; i++)
        stack->frames[i].node = PATH_NONE;
}

/* Frames up to `depth`; those that nobody told of are not known. */
static bool reach(struct shadow_python *stack, size_t depth) {
    while (stack->count < depth)
        if (!array_push(stack->frames, stack->capacity, stack->count,
                        (struct shadow_python_frame){.owner = PATH_NONE, .node = PATH_NONE}))
            return false;
    return true;
}

bool shadow_python_move(struct shadow_python *stack, const struct trace_python *to, uint32_t loop,
                        bool counts) {
    const bool entered = to->depth > stack->count;
    if (!to->depth) {
        stack->count = 0;
        return true;
    }
    if (!reach(stack, to->depth))
        return false;
    if (to->innermost)
        stack->count = to->depth;
    struct shadow_python_frame *frame = &stack->frames[to->depth - 1];
    if (!entered && frame->function == to->function && frame->begins == to->begins) {
        if (frame->line != to->line)
            forget_nodes(stack, to->depth - 1);
        frame->line = to->line;
        return true;
    }
    *frame = (struct shadow_python_frame){.function = to->function,
                                          .line = to->line,
                                          .begins = to->begins,
                                          .counted = counts && to->innermost,
                                          .owner = to->innermost ? loop : PATH_NONE};
    forget_nodes(stack, to->depth - 1);
    return true;
}

uint32_t shadow_python_node(struct shadow_python *stack, struct path_tree *tree,
                            struct path_functions *functions, uint32_t loop, bool unsure) {
    struct shadow_python_frame *frames = stack->frames;
    size_t first = stack->count - 1;
    while (first && !frames[first].begins)
        first--;
    if (frames[first].owner != loop) {
        if (frames[first].owner != PATH_NONE && !unsure)
            return loop;
        frames[first].owner = loop;
        forget_nodes(stack, first);
    }
    uint32_t node = loop;
    for (size_t i = first; i < stack->count; i++) {
        struct shadow_python_frame *frame = &frames[i];
        if (frame->node == PATH_NONE) {
            const uint32_t function = path_python_line(functions, frame->function, frame->line);
            if (function == FUNCTION_NONE)
                return PATH_NONE;
            frame->node = path_tree_child(tree, node, PATH_PYTHON, PATH_NONE, function);
            if (frame->node == PATH_NONE)
                return PATH_NONE;
            tree->nodes[frame->node].calls += frame->counted;
            frame->counted = false;
        }
        node = frame->node;
    }
    return node;
}
