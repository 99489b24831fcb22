/* Inside of this room: a stretch of cycles of threads that are simulated together (together_plan.h)
 * that counts, from its first to its last. */
#pragma once

#include "simulate/together_state.h"

/* All threads begin in the same cycle, with an empty pipeline. What happens until the end counts
 * `weight` times. */
bool chip_window_begin(struct chip_run *chip, uint64_t weight, struct error *error);
/* It ends where the last of the running threads has come to with what is in its pipeline. */
bool chip_window_end(struct chip_run *chip, struct error *error);

/* A region of one or several windows begins; it is over, and told for the interval of the estimate.
 */
void chip_region_mark(struct chip_run *chip);
bool chip_region_sample(struct chip_run *chip, struct error *error);
