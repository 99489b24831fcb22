/* The Python frames of a thread, as its trace tells of them, and which nodes of the calling context
 * tree they are: below the activation of the interpreter's loop that runs them, those that it runs
 * one within the other. A node is a line of a function: what the line calls is below it. */
#pragma once

#include "attribute/path_functions.h"
#include "attribute/path_tree.h"
#include "trace/dynamic.h"

struct shadow_python_frame {
    uint32_t function, line; /* as in struct trace_python */
    bool begins;
    bool counted;   /* it was entered where instructions count, and its node is yet to know */
    uint32_t owner; /* of a frame that begins a run: node of the loop; PATH_NONE: not known */
    uint32_t node;  /* PATH_NONE: to be found */
};

struct shadow_python {
    struct shadow_python_frame *frames; /* the outermost first */
    size_t count, capacity;
};

void shadow_python_free(struct shadow_python *stack);

/* `loop`: the node of the loop that is active; PATH_NONE: none is known. `counts`: instructions do.
 * False: out of memory. */
bool shadow_python_move(struct shadow_python *stack, const struct trace_python *to, uint32_t loop,
                        bool counts);

/* The node of the innermost frame if `loop`, which is active, runs it; else `loop`. `unsure`: it
 * may do so although another is known to. PATH_NONE: out of memory. */
uint32_t shadow_python_node(struct shadow_python *stack, struct path_tree *tree,
                            struct path_functions *functions, uint32_t loop, bool unsure);
