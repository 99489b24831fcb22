/* The best what-ifs of a simulation that measured a breakdown: what each cause costs, and what it
 * interacts with most (interaction-cost paper). Part of the report of `explain`. */
#ifndef CULPRIT_REPORT_WHAT_IF_H
#define CULPRIT_REPORT_WHAT_IF_H

#include <jansson.h>

#include "graph/breakdown.h"

/* Nothing when nothing was measured, or nothing costs 1 % of the time. */
void what_if_text(const struct breakdown *breakdown, bool colour, FILE *file);
/* A new value, null when nothing was measured (docs/json.md); NULL: out of memory. */
json_t *what_if_json(const struct breakdown *breakdown);

#endif
