/* Inside of the calibrate room: how soon one page walk begins after another, and how many go on at
 * once. */
#pragma once

#include "calibrate/calibration.h"

/* `pages`: from so many on the TLBs have none of them. `walk`: cycles of a walk. */
bool walks_measure(struct calibration *calibration, unsigned pages, double walk,
                   struct error *error);
/* Where neither is known. */
void walks_unknown(struct calibration *calibration, const char *why);
