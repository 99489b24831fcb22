/* One trace through many different cores: with sets of idealisations, and on machines that differ.
 * The reference for interaction costs (interaction-cost paper §3 FAQ and §6.1), and of sensitivity
 * studies (§4.3). Nothing is attributed; only cycles are counted, as simulation_run() would. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/core.h"
#include "machine/machine.h"
#include "simulate/selection.h"
#include "util/error.h"
#include "util/watcher.h"

struct multisim_run {
    const struct machine *machine;
    uint32_t ideal; /* enum ideal */
    bool done;      /* what follows is known; a run that is done beforehand is left as it is */
    uint64_t cycles, instructions; /* summed over guest threads */
};

struct multisim_options {
    const char *trace; /* regular file, with addresses; opened once for each run */
    struct selection selection;
    uint32_t jobs; /* runs at once; 0: as many as processors */
    /* Told the instructions of all runs together, about ten times a second, on the caller's thread.
     * When it stops, runs under way are not done. */
    struct watcher watcher;
};

bool multisim(const struct multisim_options *options, struct multisim_run *runs, uint32_t count,
              struct error *error);
