/* Node times of a graph under one idealisation, plainly: the reference for graph/lanes.h, and what
 * checks a graph against the run it was built from. */
#ifndef CULPRIT_GRAPH_EVALUATE_H
#define CULPRIT_GRAPH_EVALUATE_H

#include <stdbool.h>

#include "graph/category.h"
#include "graph/graph.h"
#include "memory/memory.h"

/* Cycles from the begin of the graph. */
struct graph_nodes {
    int64_t fetch;
    int64_t written, left; /* of the store whose entry it takes; 0: it takes none */
    int64_t dispatch, ready, execute, complete, commit;
};

/* How far ahead of its dispatch a µop competes for issue slots. */
enum { GRAPH_SLOTS = 224 };

/* Writes of stores of which it is kept when they had left the store queue, and those of one cycle
 * at most. With a larger store queue entries are free, and kept, in groups. */
enum { GRAPH_WRITES = 1 << 16, GRAPH_DRAIN_MOST = 16, GRAPH_ENTRY_GROUP = 8 };

/* How many entries the store queue has more with a window other than the machine's: a multiple of
 * GRAPH_ENTRY_GROUP. */
static inline uint32_t graph_more_entries(const struct graph_machine *machine, uint32_t window) {
    uint64_t entries = window ? (uint64_t)machine->store_queue * window / machine->window : 0;
    uint64_t more = entries > machine->store_queue ? entries - machine->store_queue : 0;
    more -= more % GRAPH_ENTRY_GROUP;
    return more < GRAPH_WRITES ? (uint32_t)more : GRAPH_WRITES - GRAPH_ENTRY_GROUP;
}

/* MSHRs there are for a line that this level brings; 0: unlimited. What was observed has the waits
 * for those of outer levels in it; with an ideal window misses come denser than they were
 * observed, so that the fewest on the way count. */
static inline uint32_t graph_mshrs(const struct graph_machine *machine, uint32_t window,
                                   unsigned level) {
    if (level == LEVEL_L1)
        return 0;
    return window ? machine->mshrs[level] : machine->mshrs[LEVEL_L2];
}

struct graph_evaluation;
/* `ideal`: enum ideal, without dlong. NULL: out of memory. */
struct graph_evaluation *graph_evaluation_new(const struct graph_machine *machine, uint32_t ideal);
/* With a set of these categories, which must stay as they are; NULL: the standard ones. */
struct graph_evaluation *graph_evaluation_new_of(const struct graph_machine *machine,
                                                 const struct categories *categories, uint32_t set);
void graph_evaluation_free(struct graph_evaluation *evaluation);

/* A graph of its own begins. */
void graph_evaluation_begin(struct graph_evaluation *evaluation);

/* The next µop of the graph; its node times. */
const struct graph_nodes *graph_evaluate(struct graph_evaluation *evaluation,
                                         const struct graph_uop *uop);
#endif
