/* What design.c and design_*.c share. Only these include this. */
#pragma once

#include "machine/choice.h"
#include "study/design.h"

/* The machine of a point, settled: the caller's (free). NULL with an error. */
struct machine_choice *design_machine(const struct design *design, const struct design_point *point,
                                      struct error *error);
/* Its machine, and what is known of it already; the design's folder is open. */
bool design_open_point(struct design *design, struct design_point *point, struct error *error);
/* Simulates a point from what was captured, on any thread, with a watch of that thread. */
bool design_simulate(const struct design *design, struct design_point *point, struct watch *watch,
                     struct error *error);
/* All points that are open, some at once. */
bool design_simulate_all(struct design *design, struct error *error);
/* Likewise, by the nodes of the cluster. */
bool design_simulate_on_cluster(struct design *design, struct error *error);
