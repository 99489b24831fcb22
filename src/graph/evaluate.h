/* Node times of a graph under one idealisation, plainly: the reference for graph/lanes.h, and what
 * checks a graph against the run it was built from. */
#ifndef CULPRIT_GRAPH_EVALUATE_H
#define CULPRIT_GRAPH_EVALUATE_H

#include <stdbool.h>

#include "graph/graph.h"

/* Cycles from the begin of the graph. */
struct graph_nodes {
    int64_t fetch, dispatch, ready, execute, complete, commit;
};

struct graph_evaluation;
/* `ideal`: enum ideal, without dlong. NULL: out of memory. */
struct graph_evaluation *graph_evaluation_new(const struct graph_machine *machine, uint32_t ideal);
void graph_evaluation_free(struct graph_evaluation *evaluation);

/* The next µop of the graph; its node times. */
const struct graph_nodes *graph_evaluate(struct graph_evaluation *evaluation,
                                         const struct graph_uop *uop);
/* The next µop is the first of another graph. */
void graph_evaluation_restart(struct graph_evaluation *evaluation);
#endif
