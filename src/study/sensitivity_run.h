/* A command or trace simulated on every machine of a sensitivity study (simulate/sensitivity.h):
 * captured once, then simulated side by side. */
#pragma once

#include "simulate/sensitivity.h"
#include "study/trace_input.h"

struct sensitivity_run {
    /* Set before. */
    struct watch *watch;
    const struct input_options *input;
    const struct machine_choice *machines;
    uint32_t ideal;
    uint32_t jobs; /* simulations at once; 0: one for each processor */

    struct sensitivity study; /* its parameters set before: sensitivity_add() */
    char *folder;             /* temporary, of the trace */
    struct trace_input trace;
    const struct machine *machine; /* that is varied */
    uint64_t instructions;         /* of each simulation */
    bool partial;                  /* not all were simulated, or not all of the trace */
};

/* sensitivity_run_free() whatever becomes of these. */
bool sensitivity_run_begin(struct sensitivity_run *run, struct error *error);
/* After an interrupt what was simulated until then; nothing is an error. *exec_status is set when a
 * command cannot be run. */
bool sensitivity_run_go(struct sensitivity_run *run, int *exec_status, struct error *error);
void sensitivity_run_free(struct sensitivity_run *run);
