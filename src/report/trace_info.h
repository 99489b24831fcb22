/* What a trace file holds, counted without decoding its instructions. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "util/error.h"

/* Of a damaged trace, what could be read is printed, and false returned. */
bool trace_info(const char *path, bool json, FILE *file, struct error *error);
