/* Node times of a graph under one idealisation, in plain code: the reference for graph/lanes.h, and
 * what checks a graph against the run that it was built from. */
#pragma once

#include <stddef.h>

#include "graph/category.h"
#include "graph/graph.h"
#include "memory/memory.h"

enum graph_node {
#define NODE(letter, member, event) NODE_##letter,
#include "graph/edges.def"
    NODE_COUNT
};

/* How many µops back the last µop of the place is that is so many places before; 0: before the
 * begin. */
struct graph_back {
    uint32_t fetch_room, dispatch_width, window, commit_width;
};

/* Cycles from the begin of the graph: by name, and by enum graph_node. */
struct graph_nodes {
    union {
        struct {
            int64_t fetch;
            int64_t written, left; /* of the store whose entry it takes; 0: it takes none */
            int64_t dispatch, ready, execute, complete, commit;
        };
        int64_t time[NODE_COUNT];
    };
    struct graph_back back;
};
#define NODE(letter, member, event)                                                                \
    static_assert(offsetof(struct graph_nodes, member) == NODE_##letter * sizeof(int64_t), event);
#include "graph/edges.def"

/* How far ahead of its dispatch a µop competes for issue slots. */
enum { GRAPH_SLOTS = 224 };

/* GRAPH_WRITES: the latest writes of stores, of which is kept when they left the store queue.
 * GRAPH_DRAIN_MOST: writes in a cycle at most. GRAPH_ENTRY_GROUP: in a larger store queue, entries
 * become free in groups of so many. */
enum { GRAPH_WRITES = 1 << 16, GRAPH_DRAIN_MOST = 16, GRAPH_ENTRY_GROUP = 8 };

/* How many more entries the store queue has with a window other than the machine's: a multiple of
 * GRAPH_ENTRY_GROUP. */
static inline uint32_t graph_more_entries(const struct graph_machine *machine, uint32_t window) {
    uint64_t entries = window ? (uint64_t)machine->store_queue * window / machine->window : 0;
    uint64_t more = entries > machine->store_queue ? entries - machine->store_queue : 0;
    more -= more % GRAPH_ENTRY_GROUP;
    return more < GRAPH_WRITES ? (uint32_t)more : GRAPH_WRITES - GRAPH_ENTRY_GROUP;
}

/* MSHRs for a line that this level serves; 0: unlimited. Latencies that were observed include the
 * waits for MSHRs of outer levels. With an ideal window misses come closer together than observed,
 * so the level with the fewest MSHRs on the way counts. */
static inline uint32_t graph_mshrs(const struct graph_machine *machine, uint32_t window,
                                   unsigned level) {
    if (level == LEVEL_L1)
        return 0;
    return window ? machine->mshrs[level] : machine->mshrs[LEVEL_L2];
}

struct graph_evaluation;
/* `ideal`: enum ideal, without dlong. NULL: out of memory. */
struct graph_evaluation *graph_evaluation_new(const struct graph_machine *machine, uint32_t ideal);
/* Likewise with a set of these categories, which must outlive it; NULL: the standard ones. */
struct graph_evaluation *graph_evaluation_new_of(const struct graph_machine *machine,
                                                 const struct categories *categories, uint32_t set);
void graph_evaluation_free(struct graph_evaluation *evaluation);

/* Starts a new graph. */
void graph_evaluation_begin(struct graph_evaluation *evaluation);

/* The next µop of the graph; its node times. */
const struct graph_nodes *graph_evaluate(struct graph_evaluation *evaluation,
                                         const struct graph_uop *uop);
