/* Whoever wants the instructions themselves that cores simulate, as cores get them, and not what
 * the taps show of them: the analytical models, which know no cycles. */
#pragma once

#include <stdbool.h>

#include "core/core.h"
#include "trace/trace.h"
#include "util/error.h"

enum { INSTRUCTION_OBSERVERS = 2 }; /* of one simulation, at most */

/* Functions may be called by several threads at once, for different lanes. */
struct instruction_observer {
    /* A core of a guest thread is made. *lane is the observer's, NULL at first. On an error it is
     * detached as well. */
    bool (*attach)(void *context, void **lane, struct error *error);
    /* The core is about to get these instructions; core_memory() is what its caches hold until
     * then. When they do not follow on the last ones, others came in between, which were not
     * simulated. */
    bool (*see)(void *context, void *lane, const struct core *core, const struct code *code,
                const struct trace_batch *piece, bool follows, struct error *error);
    /* What was seen since the last time stands for `weight` times as much of the run. */
    bool (*collect)(void *context, void *lane, double weight, struct error *error);
    void (*detach)(void *context, void *lane);
    void *context;
    double weight; /* of all that is seen, times what the schedule gives it */
};
