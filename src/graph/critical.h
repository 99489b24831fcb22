/* The critical path of fragments of the graph: from the last commit back along the edge that set
 * each node's time, every cycle of it by kind of edge and by static instruction (interaction-cost
 * paper §3: the longest path is the execution time).
 *
 * Where several edges set a node, the one of the kind that comes first in graph/edges.h is taken.
 * Cycles add up exactly to the lengths of the fragments. One kind of edge, SR, can have a negative
 * weight: a load overlaps its address generation with the store that it waits for. */
#pragma once

#include <stddef.h>

#include "graph/edges.h"

/* What cycles are counted by: the kinds of enum graph_edge_kind, and parts of some of them
 * separately. */
enum critical_part {
    PART_FETCH_MISS = EDGE_COUNT, /* of every edge to F: instruction cache and TLB */
    PART_MSHR,                    /* of RE, and of every edge to W */
    PART_L1,                      /* of EP: loads, from L1 or the store queue */
    PART_MISS, /* of EP: loads beyond L1, translation of loads and stores; of WL */
    CRITICAL_PARTS
};
const char *critical_part_name(unsigned part);        /* "EP", "EP miss" */
const char *critical_part_description(unsigned part); /* one line */
const char *critical_part_category(unsigned part);    /* "dmiss", that idealises it; "" none */

struct critical_insn {
    uint32_t insn;
    int64_t cycles; /* sum of the parts */
    int64_t parts[CRITICAL_PARTS];
};

/* All zero: of no fragments. */
struct critical {
    int64_t cycles; /* sum of the parts, and of the instructions */
    int64_t parts[CRITICAL_PARTS];
    struct critical_insn *insns; /* in no order; instructions that have cycles */
    size_t count, capacity;
    uint32_t *rows; /* by static instruction: index into insns + 1, or 0 */
    size_t row_count, row_capacity;
};

/* Adds a fragment, whose node times are those of graph_fragment_times(). A cycle belongs to the
 * instruction whose node the edge leads to; of PD, FL, CF and FB to that which it comes from, the
 * branch or flushing instruction; of edges to W and L to the store that is written. False: out of
 * memory. critical_free() either way. */
bool critical_add(struct critical *critical, const struct graph_machine *machine,
                  const struct graph_fragment *fragment, const struct graph_nodes *nodes,
                  struct error *error);
void critical_free(struct critical *critical);

/* NULL: it has none of the path's cycles. */
const struct critical_insn *critical_find(const struct critical *critical, uint32_t insn);
/* The part of an instruction's cycles that is beyond the L1. */
static inline int64_t critical_misses(const struct critical_insn *insn) {
    return insn->parts[PART_MISS] + insn->parts[PART_MSHR] + insn->parts[EDGE_PP];
}
