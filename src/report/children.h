/* The processes that the command started: what share of the processor time they had. */
#pragma once

#include "report/report.h"
#include "trace/trace.h"

/* For the report's second line, where the first process was simulated; of children that were not
 * followed, with a note on how it was measured. Where children had no time, nothing. */
void children_tell(struct report *report, const struct trace *trace);
