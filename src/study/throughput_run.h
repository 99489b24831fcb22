/* Instructions per cycle of chips whose cores interleave threads: programs profiled alone, then by
 * the models (model/throughput.h), of one chip or of a space of them, and simulated when asked for.
 */
#pragma once

#include "model/throughput_check.h"
#include "model/throughput_search.h"
#include "study/localities.h"

struct throughput_run {
    /* Set before. */
    struct watch *watch;
    struct locality_inputs inputs; /* listed; freed with the run */
    struct throughput_options options;
    struct throughput_space space; /* finished for the machine */
    struct selection selection;
    bool check; /* the inputs are simulable */

    struct throughput_result result;       /* of one chip */
    struct throughput_simulated simulated; /* likewise, checked */
    struct throughput_search search;       /* of a space */
    double model_seconds, simulation_seconds;
    bool interrupted;
};

/* throughput_run_free() either way. */
bool throughput_run_go(struct throughput_run *run, struct error *error);
void throughput_run_free(struct throughput_run *run);
