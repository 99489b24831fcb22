/* Static code for the core that runs schedules. Inside of the schedule. */
#pragma once

#include "analyze/scheduler.h"

/* A load's, then a store's: those of all instructions. */
extern const struct memory_access scheduler_accesses[2];

bool insn_is_call(const struct insn *insn);

/* Adds a graph's instructions, each as context and to be measured, and those from outside; forgets
 * earlier code, and the core, where there is too much or of another architecture. */
bool scheduler_add_code(struct scheduler *scheduler, const struct cfg *cfg, struct error *error);
void scheduler_drop_core(struct scheduler *scheduler);
