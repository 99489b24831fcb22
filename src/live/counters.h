/* Events of this very machine while a command runs, by perf_event_open(2): user mode only, the
 * command's children included. Needs a performance monitoring unit, which virtual machines often
 * lack, and kernel.perf_event_paranoid of at most 2. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "util/error.h"

enum counted_event {
    COUNTED_CYCLES,
    COUNTED_INSTRUCTIONS,
    COUNTED_FAULTS /* page faults: of the kernel's own, so that every machine has it */
};

/* Whether this machine can count it. */
bool counters_have(enum counted_event event);

/* Runs the command, found in PATH, with these descriptors (0: the caller's; others that it could
 * write to go nowhere), and waits for it. counts[i] becomes how often events[i] happened, at most
 * COUNTERS_MAX. Scaled where the machine counted in turns. False when it cannot be counted or run;
 * how the command ended does not matter.
 */
enum { COUNTERS_MAX = 4 };
bool counters_run(char *const *command, const int descriptors[3], const enum counted_event *events,
                  uint64_t *counts, unsigned count, struct error *error);
