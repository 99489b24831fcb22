/* `sim --regions`: the regions of a list that were captured, simulated side by side, as an estimate
 * of the whole run. */
#ifndef CULPRIT_CMD_SIM_REGIONS_H
#define CULPRIT_CMD_SIM_REGIONS_H

#include "cmd/run.h"

/* Returns the exit status. */
int run_regions(const struct run_request *request);

#endif
