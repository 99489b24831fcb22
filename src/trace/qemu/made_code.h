/* Names of the code that a traced process made while it ran: from the map that its runtime leaves
 * in /tmp/perf-PID.map, and from the jitdump that it has mapped. */
#pragma once

#include "trace/qemu/capture.h"

/* Reads the map of a process that ends, and queues the symbols of what it executed. Does nothing if
 * there is neither, or the map is older than the process. */
void made_code_name(struct capture *capture, const struct traced *process);
