/* What of culprit works on this machine: each part tried as a verb would use it, and, of what does
 * not work, the command that mends it. */
#pragma once

#include <stdbool.h>

#include "live/findings.h"

/* Takes about a second: a program is captured. */
void doctor_look(struct doctor *doctor);
/* Whether nothing is missing. */
bool doctor_is_well(const struct doctor *doctor);
