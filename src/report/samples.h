/* The samples in a file, one after the other, as perf script shows perf's. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "util/error.h"

/* `path` "-": standard input. Of a damaged file what could be read is printed, and false returned;
 * whether `out` took it is for the caller to see. */
bool samples_print(const char *path, bool json, FILE *out, struct error *error);
