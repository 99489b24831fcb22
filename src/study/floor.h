/* `profilers --floor`: how many samples it takes is known only when the run is (K, see
 * attribute/profile_error.h), so the run is simulated twice; a command is captured to a file first,
 * as it can run but once. */
#pragma once

#include "simulate/simulate.h"
#include "study/study.h"

/* Captures the command into a temporary file, whose path the caller frees and removes; a signal
 * ends the command, and the file has its *instructions so far. NULL with *exec_status as
 * trace_capture(). */
char *floor_capture(struct watch *watch, const struct capture_options *options, const char *option,
                    uint64_t *instructions, int *exec_status, struct error *error);

/* Simulates the trace without profilers, and returns the period, in cycles, at which the samples
 * have this floor (share, > 0) of the error of cycle stacks by instruction; 0 with an error. */
uint64_t floor_period(struct trace *trace, const struct simulation_options *options, double floor,
                      struct error *error);
