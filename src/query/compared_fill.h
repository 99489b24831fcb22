/* What a simulation says of a run that is compared. */
#pragma once

#include "query/compared_run.h"
#include "simulate/simulate.h"

/* Adds what came of a command, of which the title is a copy; cycles are by component. */
bool compared_run_take(struct compared_run *run, const char *command,
                       const struct simulation *simulation, const struct code *code,
                       const struct machine *machine, struct error *error);

/* Copies what a run is called. False: out of memory. */
bool compared_run_title(struct compared_run *run, const char *title, const char *machine);
/* What a function is called that has no name: by where it begins, if that is known. */
const char *compared_name_function(char *text, size_t size, const char *image, bool known,
                                   uint64_t offset);
