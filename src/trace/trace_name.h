/* How files of traces are called. */
#pragma once

#include <stdbool.h>

/* Whether a word names a trace by its ending: .ctrace, or, of other tools, .champsim,
 * .champsimtrace and .trace, also packed (.gz, .xz, .zip). */
bool trace_is_named(const char *word);
