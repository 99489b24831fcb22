/* Top-down levels of all cores of a simulation: one of simulation_options.observers. */
#pragma once

#include "attribute/top_down.h"
#include "simulate/simulate.h"

struct top_down_keeper;
/* Of a machine that has levels (top_down_missing()). It has a thread of its own. */
struct top_down_keeper *top_down_keeper_new(const struct machine *machine, uint32_t ideal,
                                            struct error *error);
void top_down_keeper_free(struct top_down_keeper *keeper);
struct simulation_observer top_down_keeper_observer(struct top_down_keeper *keeper);
/* After the simulation: cells as top_down_profile() has them, sorted (free). NULL, with an error:
 * out of memory, or they are not dispatch_width × `cycles` slots. */
struct pics_cell *top_down_keeper_cells(struct top_down_keeper *keeper, uint64_t cycles,
                                        uint64_t *count, struct error *error);
