/* Strongly connected components of a control-flow graph and its outside: within one, control can
 * come from each block to each (Tarjan 1972). */
#pragma once

#include "analyze/cfg.h"

struct components {
    uint32_t *of;   /* by block, and at the end of the outside */
    uint32_t *head; /* by component: the block that a search from outside finds first; of the
                       outside's CFG_NONE */
    uint32_t count;
};

/* False: out of memory. components_free() either way. */
bool components_find(struct components *components, const struct cfg *cfg, struct error *error);
void components_free(struct components *components);
