/* Keeps fragments of the dependence graph of a simulation: an observer that builds the graph of
 * each core.
 *
 *     keeper = graph_keeper_new(machine, isa, &error)
 *     graph_keeper_observer(keeper)       one of simulation_options.observers
 *     graph_keeper_fragments(keeper)      after the simulation, also an interrupted one
 */
#pragma once

#include "graph/fragments.h"
#include "simulate/simulate.h"

struct graph_keeper;
/* Graphs are built on a thread of their own. NULL with an error. */
struct graph_keeper *graph_keeper_new(const struct machine *machine, enum isa isa,
                                      struct error *error);
struct simulation_observer graph_keeper_observer(struct graph_keeper *keeper);
/* After the simulation, also an interrupted one. */
const struct graph_fragments *graph_keeper_fragments(const struct graph_keeper *keeper);
void graph_keeper_free(struct graph_keeper *keeper);
