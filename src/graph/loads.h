/* What the misses of single load instructions cost, and how those of pairs interact: which loads to
 * prefetch together, and which alone suffices.
 *
 * A load is idealised as by dmiss, but alone: all its executions hit L1 and TLB, and wait for no
 * line that another miss fetches. Lines that it would have fetched are there for other loads as
 * well. cost and icost are those of the interaction-cost paper §2, with loads as the events. */
#pragma once

#include "graph/critical.h"

/* By static instruction, over fragments. */
struct load_tally_insn {
    uint64_t executions, misses; /* all, and those that waited beyond the L1 */
    uint64_t wait; /* cycles of these waits, overlapping ones counted each, and waits for MSHRs */
};
/* All zero: of no fragments. */
struct load_tally {
    struct load_tally_insn *insns;
    size_t count, capacity;
};
/* `nodes`: of graph_fragment_times(). False: out of memory. load_tally_free() either way. */
bool load_tally_add(struct load_tally *tally, const struct graph_machine *machine,
                    const struct graph_fragment *fragment, const struct graph_nodes *nodes,
                    struct error *error);
void load_tally_free(struct load_tally *tally);

enum { LOADS_MOST = 64, LOADS_PAIRED = 8, LOADS_DEFAULT = 16 };

struct load_cost {
    uint32_t insn;
    struct load_tally_insn tally;
    int64_t path; /* cycles of its misses on the critical path */
    int64_t cost; /* cycles */
};

struct load_costs {
    int64_t cycles;                     /* of the fragments, with nothing idealised */
    int64_t together;                   /* cost of all the loads below */
    int64_t dmiss;                      /* of the misses of all loads and stores */
    struct load_cost loads[LOADS_MOST]; /* the costliest first; of the same cost the longest wait */
    uint32_t count;
    /* Pairs: of the loads pairs[0 .. paired-1] (indices into loads, ascending). */
    uint32_t pairs[LOADS_PAIRED], paired;
    int64_t icost[LOADS_PAIRED][LOADS_PAIRED]; /* symmetric; 0 of a load and itself */
};

/* Measures at most `most` ≤ LOADS_MOST loads: half of them those with most cycles on the critical
 * path, the others those that waited longest, as parallel misses are not all on the path. Likewise
 * pairs: half the costliest, the others those that waited longest. Reads the fragments some 40
 * times. */
bool load_costs_measure(const struct graph_machine *machine,
                        const struct graph_fragments *fragments, const struct load_tally *tally,
                        const struct critical *critical, uint32_t most, struct load_costs *costs,
                        struct error *error);
