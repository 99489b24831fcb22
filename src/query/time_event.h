/* Which event of a set of profiles tells where time went. */
#pragma once

#include "query/profile_set.h"

/* Of a set that has events: where a core in order was simulated, what stood at the head of its
 * issue queue; else the first that is time; else the first. */
const struct profile_event *profile_set_time_event(const struct profile_set *set);

/* Whether a simulation's event samples cycles, and does not tell how often code was executed, or
 * what may have stalled it (simulate/saving.h). */
bool profile_event_samples_cycles(const struct profile_event *event);
