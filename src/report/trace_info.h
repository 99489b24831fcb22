/* What a trace file holds, counted without decoding its instructions. */
#ifndef CULPRIT_REPORT_TRACE_INFO_H
#define CULPRIT_REPORT_TRACE_INFO_H

#include <stdbool.h>
#include <stdio.h>

#include "util/error.h"

/* Of a damaged trace, what could be read is printed, and false returned. */
bool trace_info(const char *path, bool json, FILE *file, struct error *error);

#endif
