/* Frequency equivalence (DCPI §6.1.2): blocks and edges that are executed the same number of times
 * in every run that ends, found as cycle equivalence in linear time (Johnson, Pearson and Pingali,
 * "The Program Structure Tree", PLDI 1994), with an edge from the exit to the entry. A loop that
 * nothing leaves is given an edge of its own to the exit (DCPI: the idle loop of a kernel). With
 * missing edges every block and every edge is a class of its own. */
#ifndef CULPRIT_ANALYZE_EQUIVALENCE_H
#define CULPRIT_ANALYZE_EQUIVALENCE_H

#include "analyze/cfg.h"

struct equivalence {
    uint32_t *block_class, *edge_class; /* by block, by edge of the graph */
    uint32_t class_count;
};

/* False: out of memory. equivalence_free() either way. */
bool equivalence_find(struct equivalence *equivalence, const struct cfg *cfg, struct error *error);
void equivalence_free(struct equivalence *equivalence);

#endif
