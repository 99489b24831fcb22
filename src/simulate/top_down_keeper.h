/* Inside of this room: top-down levels of all cores of a simulation. Like the golden reference,
 * what the cores gained counts with the weight of what was simulated. */
#pragma once

#include "attribute/top_down.h"
#include "simulate/simulate.h"
#include "util/executor.h"

struct top_down_keeper;
/* Of a machine that has levels (top_down_missing()). `thread`: on which slots are classed, or NULL.
 */
struct top_down_keeper *top_down_keeper_new(const struct machine *machine, uint32_t ideal,
                                            struct executor *thread);
void top_down_keeper_free(struct top_down_keeper *keeper);

/* One core, whose tap it watches. NULL: an error. */
struct top_down *top_down_keeper_attach(struct top_down_keeper *keeper, struct tap *tap,
                                        struct error *error);
/* What it gained since then, once it has no instruction under way. False: out of memory. */
bool top_down_keeper_collect(struct top_down_keeper *keeper, struct top_down *core,
                             uint64_t weight);

/* Fills the simulation's slots. False, with an error: out of memory, or not every slot of its
 * cycles has a class. */
bool top_down_keeper_finish(struct top_down_keeper *keeper, struct simulation *simulation,
                            struct error *error);
