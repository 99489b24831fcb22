/* Executions along the flow (DCPI §6.1.4): what enters a block leaves it, so where all but one of
 * the edges at a block's head or tail are known, the last one follows, and with it its class.
 *
 * Each value has a variance. The surest estimates are settled first. A value that follows from them
 * is averaged with the class's own estimate, if it has one, each weighted by the inverse of its
 * variance: so sure neighbours repair a doubtful estimate. Finally all known values are moved, each
 * in proportion to its standard error, until what leaves equals what enters (DCPI's "global
 * constraint solver", which it was about to try). No value is negative.
 *
 * With missing edges nothing follows at the heads of blocks, nor outside: a jump with unknown
 * targets may lead to any head. What leaves a block is known even then, as such a jump is an edge
 * to outside. */
#pragma once

#include "analyze/equivalence.h"

enum flow_origin {
    FLOW_UNKNOWN, /* nothing is known */
    FLOW_OWN,     /* an estimate from outside, as it was given */
    FLOW_BOTH,    /* the estimate, and what followed from the flow */
    FLOW_FOLLOWS, /* from the flow alone */
    FLOW_SHARED   /* only the sum of several values is known: an even share of it, so that other
                     values may follow */
};

struct flow_value {
    double executions, variance; /* the latter ≥ 0, of the former */
    uint8_t origin;              /* enum flow_origin: given as UNKNOWN or OWN */
};

/* `values` by class, in and out. Time grows as the graph, and as n log n with the classes. False:
 * out of memory. */
bool flow_propagate(const struct cfg *cfg, const struct equivalence *equivalence,
                    struct flow_value *values, struct error *error);
