/* The threads of a simulation; of those that were simulated together, where they waited. */
#pragma once

#include <jansson.h>

#include "report/report.h"

json_t *threads_json(const struct simulation *simulation);
/* What they did to each other: an object, or null where threads were not simulated together. */
json_t *together_json(const struct report *report);
