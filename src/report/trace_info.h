/* What a trace file holds, counted without decoding its instructions. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "util/error.h"

/* `checked`: all of it was read by trace_check(), and is right. Of a damaged trace, what could be
 * read is printed, and false returned. */
bool trace_info(const char *path, bool checked, bool json, FILE *file, struct error *error);
