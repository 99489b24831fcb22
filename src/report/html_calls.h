/* Who called whom in two runs, for a page (docs/html.md). */
#pragma once

#include <stdio.h>

#include "query/call_difference.h"

/* One object. False: out of memory. */
bool html_calls_write(const struct call_difference *difference, FILE *file, struct error *error);
