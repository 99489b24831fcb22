/* What upgrades of a machine (upgrade.h) would save of a run, by the hybrid analytical model, told
 * while the run is simulated on the machine as it is: an observer of the simulation's instructions.
 *
 *     simulation ──► windows of instructions ──► data trace per prefetcher ──► hybrid model
 *                    caches from the core's
 *
 * Parts of the run are looked at, each with the caches as the core has left them; the parts of
 * every thread, region and level of a sampling schedule stand for what was simulated of it.
 * Branches are taken to be predicted right (Chen 2009 §5.1), memory to have no limit of bandwidth.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/upgrade.h"
#include "model/windows.h"
#include "simulate/instruction_observer.h"
#include "util/error.h"

/* Which instructions that a core simulates are looked at: windows as of µops. Windows of 64 cores
 * may be open at once; one more waits for the end of another. */
#define FORECAST_SOME           ((struct forecast_windows){.length = 150000, .every = 4000000, .all = 500000})
#define FORECAST_SOME_OF_REGION ((struct forecast_windows){.length = 100000, .every = 1000000})

/* Cycles are those of instructions looked at, weighted: divide by `instructions`. */
struct forecast_result {
    uint64_t looked;            /* instructions that were looked at */
    double instructions;        /* weighted, that they stand for; 0: nothing is known */
    double now;                 /* cycles lost to long data misses on the machine as it is */
    double then[UPGRADES_MOST]; /* on each of upgrades_of() */
};

struct forecast;
/* True when the model can speak of the machine with these idealised (enum ideal): one with a
 * reorder buffer, on which loads miss. */
bool forecast_fits(const struct machine *machine, uint32_t ideal);
/* The machine must be one that it can speak of. NULL with an error. */
struct forecast *forecast_new(const struct machine *machine, struct forecast_windows windows,
                              struct error *error);
void forecast_free(struct forecast *forecast);

struct instruction_observer forecast_observer(struct forecast *forecast);

/* After the simulation, also an interrupted one. */
struct forecast_result forecast_result(const struct forecast *forecast);
/* Adds what is known of another part of the run on the same machine. */
void forecast_sum(struct forecast_result *sum, const struct forecast_result *more);
