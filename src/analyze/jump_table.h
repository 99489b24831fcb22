/* Where indirect jumps lead, as far as the code before them shows (DCPI §6.1.1): through tables of
 * addresses or of distances, bounded by a comparison, a mask or the size of the index; to constant
 * addresses; to other procedures. Inside of this room. */
#pragma once

#include "analyze/explore.h"

struct jump_targets {
    uint32_t *offsets; /* in the procedure, ascending, each once */
    size_t count, capacity;
    bool leaves;   /* it may go to another procedure */
    bool complete; /* there are no others */
};

struct jump_resolver {
    const struct exploration *exploration;
    uint32_t *seen; /* by instruction: the last search that came by */
    size_t seen_count;
    uint32_t searches;
    size_t steps, entries; /* spent so far, of all jumps */
};

/* Finds the targets of a jump. Those that are known so far must have been followed; `targets` is
 * emptied first. False: out of memory. */
bool jump_resolve(struct jump_resolver *resolver, const struct exploration *exploration,
                  const struct code_open *jump, struct jump_targets *targets);
void jump_resolver_free(struct jump_resolver *resolver);
