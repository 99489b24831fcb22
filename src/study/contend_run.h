/* What programs that share a cache do to each other: each profiled alone, then by the model
 * (model/contend.h), and simulated beside each other when asked for. */
#pragma once

#include "model/contend.h"
#include "study/localities.h"

struct contend_run {
    /* Set before. */
    struct watch *watch;
    struct locality_inputs inputs;  /* listed; freed with the run */
    struct contend_options options; /* whose machine has a cache that is shared */
    struct selection selection;
    bool check; /* the inputs are simulable, the machine a chip */

    struct contend_program *programs;
    struct contend_check checked;
};

/* contend_run_free() either way. */
bool contend_run_go(struct contend_run *run, struct error *error);
void contend_run_free(struct contend_run *run);
