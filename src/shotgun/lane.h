/* A core under shotgun profiling (a lane): builds its graph from life records and samples it. */
#pragma once

#include "shotgun/database.h"
#include "tap/places.h"
#include "tap/tap.h"

/* All lanes of a database run on one thread. `isa` is read when the first records come: only then
 * is it known what is executed. NULL: out of memory. */
struct shotgun_lane;
struct shotgun_lane *shotgun_lane_new(const struct machine *machine, const enum isa *isa,
                                      struct shotgun_database *database,
                                      const struct places *places, struct shotgun_truth *truth);
/* Samples under way are lost. */
void shotgun_lane_free(struct shotgun_lane *lane);

/* For a tap worker that wants TAP_LIFE: the context is the lane. */
bool shotgun_lane_consume(void *context, const struct tap_buffer *buffer, struct error *error);
