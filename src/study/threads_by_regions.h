/* A program of several threads that is too long to be simulated in full: regions of it, simulated
 * together, stand for all (simulate/together_plan.h). Which, is decided here from a profile of the
 * trace. */
#pragma once

#include "simulate/simulate.h"
#include "simulate/together_plan.h"
#include "study/study.h"
#include "study/together_threads.h"

struct threads_by_regions {
    struct together_messages messages;
    struct together_plan plan; /* count 0: the run is short, or must be simulated in full */
    uint8_t *flags;
};

/* Of options with `together`: reads the trace file. The watch is told how far it is; when it ends
 * the profile, the plan is of what was read until then. threads_by_regions_free() either way. */
bool threads_by_regions_plan(struct threads_by_regions *regions,
                             const struct together_request *request, struct watch *watch,
                             const struct simulation_options *options, struct error *error);
void threads_by_regions_free(struct threads_by_regions *regions);
