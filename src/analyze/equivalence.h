/* Frequency equivalence (DCPI §6.1.2): blocks and edges that are executed the same number of times
 * in every run that ends, found as cycle equivalence in linear time (Johnson, Pearson and Pingali
 * 1994), with the outside as a node that connects exit and entry.
 *
 * A loop that nothing leaves (DCPI: the idle loop of a kernel) gets an outer edge from the head of
 * the first of its blocks that is reached, as if it were left there before another round: then
 * blocks and edges that take part in each round are of one class. Blocks that cannot be reached
 * from outside at all get an outer edge from there.
 *
 * With missing edges every block and every edge is a class of its own: edges that are not known may
 * lead to any block. */
#pragma once

#include "analyze/cfg.h"

struct equivalence {
    uint32_t *block_class, *edge_class; /* by block, by edge of the graph */
    uint32_t class_count;

    /* ---- outer edges, in addition to those of the graph; none with missing edges ---- */
    struct cfg_edge *outer; /* EDGE_STOP from the *head* of a block (from its tail, if no
                                edge leaves it), or EDGE_UNKNOWN to one */
    uint32_t *outer_class;
    uint32_t outer_count;
};

/* False: out of memory. equivalence_free() either way. */
bool equivalence_find(struct equivalence *equivalence, const struct cfg *cfg, struct error *error);
/* Makes every block, edge and outer edge a class of its own, in this order. */
void equivalence_part(struct equivalence *equivalence, const struct cfg *cfg);
void equivalence_free(struct equivalence *equivalence);
