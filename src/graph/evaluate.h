/* Node times of a graph under one idealisation, plainly: the reference for graph/lanes.h, and what
 * checks a graph against the run it was built from. */
#ifndef CULPRIT_GRAPH_EVALUATE_H
#define CULPRIT_GRAPH_EVALUATE_H

#include <stdbool.h>

#include "graph/category.h"
#include "graph/graph.h"

/* Cycles from the begin of the graph. */
struct graph_nodes {
    int64_t fetch, dispatch, ready, execute, complete, commit;
};

/* How far ahead of its dispatch a µop competes for issue slots. */
enum { GRAPH_SLOTS = 224 };

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
