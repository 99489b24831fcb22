/* Inside of this room: lines of a function of two builds, matched (compared_run.h). */
#pragma once

#include "query/compared_run.h"

enum { NO_LINE = UINT32_MAX };

/* matches[i]: the line of `after` that is line i of `before`, or NO_LINE. False: out of memory. */
bool compared_lines_match(const struct compared_function *before,
                          const struct compared_function *after, uint32_t *matches);
