/* The true causes of the stalls of cores in order (core/stall_causes.h), by cause. */
#pragma once

#include <jansson.h>

#include "report/page.h"
#include "simulate/simulate.h"

/* A line for each cause, largest first; nothing when no core was in order. */
void stalls_text(const struct simulation *simulation, const struct page *page);
/* Cycles by stall_cause_key(); null when no core was in order. */
json_t *stalls_json(const struct simulation *simulation);
