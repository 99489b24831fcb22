/* What `culprit trace --regions` tells. */
#pragma once

#include <stdio.h>

#include "region/region_traces.h"

/* How many regions were captured. */
size_t region_traces_complete(const struct region_traces *traces);
/* `list`: the file where they are; `partial`: the run was interrupted. Without any the text says
 * nothing. */
void region_traces_text(const struct region_traces *traces, const char *list, bool partial,
                        FILE *file);
bool region_traces_json(const struct region_traces *traces, const char *list, bool partial,
                        FILE *file, struct error *error);
