/* Inside of this room: a region of threads that are simulated together (together_plan.h), from its
 * first cycle to its last. */
#pragma once

#include "simulate/together_state.h"

/* All threads begin in the same cycle, with an empty pipeline. What happens until the end counts
 * `weight` times. */
bool chip_window_begin(struct chip_run *chip, uint64_t weight, struct error *error);
/* It ends where the last of the running threads has come to with what is in its pipeline. */
bool chip_window_end(struct chip_run *chip, struct error *error);
