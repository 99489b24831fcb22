/* Cycles of a thread that is alone when nothing overlaps: turns to issue, and all that it waits
 * for, one after the other. */
#pragma once

#include "machine/machine.h"
#include "model/locality.h"

/* Of these events; `reach` accesses come to the shared last level, of which `misses` miss it. Sums
 * may be split: the cycles of parts add up to those of the whole. */
double series_cycles(const struct machine *machine, const struct locality_events *events,
                     double reach, double misses);
