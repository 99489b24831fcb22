/* Measures a breakdown while a run is simulated once: each core's dependence graph is built behind
 * the simulation and evaluated with sets of categories idealised; times are summed over guest
 * threads, as elsewhere.
 *
 *     graph = graph_breakdown_new(&options, &error)
 *     observer = graph_breakdown_observer(graph)       one of simulation_options.observers
 *     graph_breakdown_finish(graph, &breakdown, &error)
 */
#ifndef CULPRIT_SIMULATE_GRAPH_BREAKDOWN_H
#define CULPRIT_SIMULATE_GRAPH_BREAKDOWN_H

#include "graph/breakdown.h"
#include "isa/insn.h"
#include "simulate/simulate.h"

enum { GRAPH_CATEGORIES = 8 }; /* those of enum ideal before IDEAL_DLONG, in its order */

struct graph_breakdown_options {
    const struct machine *machine;
    enum isa isa;
    uint32_t ideal;  /* enum ideal: of the simulation */
    bool own_thread; /* the graph is evaluated on a thread of its own */
};

struct graph_breakdown;
/* NULL with an error. */
struct graph_breakdown *graph_breakdown_new(const struct graph_breakdown_options *options,
                                            struct error *error);
struct simulation_observer graph_breakdown_observer(struct graph_breakdown *graph);
/* After the simulation, also an interrupted one: t(S) of sets of at most two, and the instructions.
 * breakdown_free() either way. */
bool graph_breakdown_finish(struct graph_breakdown *graph, struct breakdown *breakdown,
                            struct error *error);
void graph_breakdown_free(struct graph_breakdown *graph);

#endif
