/* Measures a breakdown while a run is simulated: each core's dependence graph is built behind the
 * simulation and evaluated with every set of categories idealised. Inside of the simulate room; the
 * result is struct simulation's. */
#pragma once

#include "simulate/simulate.h"

struct graph_breakdown;
/* `own_thread`: graphs are evaluated on a thread of their own. NULL with an error. */
struct graph_breakdown *graph_breakdown_new(const struct simulation_options *options, enum isa isa,
                                            bool own_thread, struct error *error);
/* After the taps. */
void graph_breakdown_free(struct graph_breakdown *graph);

/* What one tap has. On an error `*good` is false; graph_lane_free() either way. */
struct graph_lane;
struct graph_lane *graph_lane_new(struct graph_breakdown *graph, struct tap *tap, bool *good,
                                  struct error *error);
/* After the tap is freed. */
void graph_lane_free(struct graph_lane *lane);

/* Of a tap that was flushed: what it has shown since the last time counts, `weight` times. */
void graph_lane_collect(struct graph_lane *lane, uint64_t weight);

/* Fills simulation->breakdown, unless no µop was looked at; the caller frees it either way. When
 * not everything was simulated or looked at, what was stands for simulation->cycles. */
bool graph_breakdown_finish(const struct graph_breakdown *graph, struct simulation *simulation,
                            struct error *error);
