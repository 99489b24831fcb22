/* The sampling hardware of a shotgun profiler on one core (interaction-cost paper §5.4 and Fig.
 * 6a): takes every µop that commits and hands detailed and signature samples to a database, the
 * instructions chosen at random. At most one sample of each kind is under way at a time. */
#pragma once

#include "shotgun/database.h"
#include "tap/places.h"

/* The samples of one core, in program order. All cores that share a database do so on one thread.
 * `places`: of all µops, where the database's options choose a bit of the program counter; else
 * NULL. `truth`: NULL unless the database's options ask for it. NULL: out of memory. */
struct shotgun_sampler;
struct shotgun_sampler *shotgun_sampler_new(struct shotgun_database *database,
                                            const struct places *places,
                                            struct shotgun_truth *truth);
/* Samples under way are lost. */
void shotgun_sampler_free(struct shotgun_sampler *sampler);

/* Takes the next µops of a graph; `first`: nothing is known of what was before them. For the sink
 * of a graph builder (graph/build.h). */
bool shotgun_sampler_take(struct shotgun_sampler *sampler, const struct graph_uop *uops,
                          uint32_t count, bool first, struct error *error);
