/* Inside of this room: call paths of a simulation as the store has calls. */
#pragma once

#include "simulate/simulate.h"
#include "store/call_tree.h"

/* Adds the units of each path to a tree. images[i]: the store's number of image i of the code;
 * those that functions and call sites lie in. A path's own cycles are at its function's first byte.
 * False: out of memory. */
bool saved_calls_add(struct call_tree *tree, const struct call_path_result *result,
                     const struct code *code, const int64_t *images);
/* Likewise its instructions. */
bool saved_calls_add_instructions(struct call_tree *tree, const struct call_path_result *result,
                                  const struct code *code, const int64_t *images);
