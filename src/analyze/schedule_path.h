/* Which code leads to an edge, and which follows it. Inside of the schedule. */
#pragma once

#include "analyze/cfg.h"

/* The likeliest ways through a graph. */
struct ways {
    double *heat; /* by block: cycles per instruction seen in it; 0 where they are not known */
    uint32_t *in, *out; /* by block: the edge by which control comes most often, and goes; CFG_NONE:
                           there is none */
};
bool ways_find(struct ways *ways, const struct cfg *cfg, const double *cycles, struct error *error);
void ways_free(struct ways *ways);

/* Whether control comes likelier by edge `a` than by edge `b` of those that enter a block. */
bool ways_likelier_in(const struct ways *ways, const struct cfg *cfg, uint32_t a, uint32_t b);

struct path_step {
    uint32_t block;
    uint32_t edge; /* by which it is entered; CFG_NONE: not known */
    bool measured; /* what the path is for: an execution of the block entered by that edge */
};

/* Blocks in the order of execution from the last step back to the first. Of the first block
 * `skipped` instructions are left out; if so, how it is entered does not matter. */
struct path {
    struct path_step *steps; /* 0 is the last to be executed, and measured */
    size_t count, capacity;
    uint32_t skipped, executions; /* the latter: steps that are measured */
};

/* The path to an edge and the block behind it, with `context` instructions before all that is
 * measured where there are as many. As long as the block is entered by the same edge again within
 * `window` instructions backwards, those executions are measured as well. False: out of memory. */
bool path_find(struct path *path, const struct cfg *cfg, const struct ways *ways, uint32_t edge,
               uint32_t context, uint32_t window);
