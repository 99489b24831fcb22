/* What the core does down a wrong path, from the fetch of a mispredicted conditional branch until
 * it has executed: the lines of code that it fetches, and the data that it loads where the wrong
 * path has met the right one again (convergence exploitation, Eyerman et al. 2023).
 *
 * The trace has the right path alone. The wrong path of a branch is taken to begin with what came
 * behind it when it last was mispredicted the other way; where that comes to a µop which is also on
 * the right path a little further on, the two have met. From there on the wrong path is the right
 * one: its loads have the right addresses, as long as these depend on no register that either path
 * wrote before they met. They issue when their operands are there, one after the other as fetch and
 * depth allow, without contention for units, and fetch lines like software prefetches. Another
 * branch that will be mispredicted there leads the wrong path astray in the same way.
 *
 * Not so modelled: stores, addresses before the paths meet, slots and units, branches that the
 * predictor would take for others with a wrong history. */
#pragma once

#include "core/ooo/ooo.h"

/* NULL: out of memory. */
struct wrong_paths *wrong_paths_new(void);

/* A branch, a conditional one that is mispredicted, has been fetched and executed in these cycles.
 */
void run_wrong_path(struct ooo *core, uint64_t branch, uint64_t fetch, uint64_t complete);
