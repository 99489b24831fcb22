/* Sensitivity studies (interaction-cost paper §4.3 and Fig. 3): one or two parameters of a machine
 * are varied over given values, every combination is simulated.
 *
 *     sensitivity_add(&study, "core.rob=64,128,256", &error)      once or twice
 *     sensitivity_build(&study, &machine, ideal, &error)          makes the runs
 *     multisim(&options, study.runs, study.run_count, &error)
 */
#pragma once

#include "simulate/multisim.h"

enum { SENSITIVITY_PARAMETERS = 2, SENSITIVITY_VALUES = 16 };

struct sensitivity_parameter {
    char *keys; /* as given: keys of a machine, joined by '+', that all get the value */
    char *values[SENSITIVITY_VALUES];
    uint32_t count;
};

struct sensitivity {
    struct sensitivity_parameter parameters[SENSITIVITY_PARAMETERS];
    uint32_t parameter_count;
    struct machine *machines; /* of the runs */
    struct multisim_run *runs;
    uint32_t run_count;
};

/* "KEY[+KEY...]=VALUE[,VALUE...]", at most SENSITIVITY_PARAMETERS times. */
bool sensitivity_add(struct sensitivity *study, const char *text, struct error *error);
/* Every combination, as a variant of the machine; those that make no machine are an error. */
bool sensitivity_build(struct sensitivity *study, const struct machine *machine, uint32_t ideal,
                       struct error *error);
void sensitivity_free(struct sensitivity *study);

/* The run with the first parameter's value `first` and the second's value `second` (0 when there is
 * one parameter). */
const struct multisim_run *sensitivity_run(const struct sensitivity *study, uint32_t first,
                                           uint32_t second);
/* How many values the second parameter has; 1 when there is none. */
uint32_t sensitivity_seconds(const struct sensitivity *study);
/* By how much faster that is than with the first parameter's first value, both with the same value
 * of the second: 0.25 is 25 % (Fig. 3). NAN: not known. */
double sensitivity_speedup(const struct sensitivity *study, uint32_t first, uint32_t second);
