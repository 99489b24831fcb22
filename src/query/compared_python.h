/* What a simulation says of the lines of Python that a run executed, to be compared as functions of
 * machine code are (compared_run.h). */
#pragma once

#include "query/compared_run.h"
#include "simulate/simulate.h"

/* A place for each line, with its text as the file has it now; its image is its file. Nothing where
 * no Python ran, or call paths were not asked for. */
bool compared_python_take(struct compared_run *run, const struct simulation *simulation,
                          const struct code *code, struct error *error);
