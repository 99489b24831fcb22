/* What upgrades of the machine would save of a run, as the hybrid analytical model says, where long
 * data misses cost enough: part of the report of `explain`, beside what_if.h. */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "report/report.h"

/* One line that says why, where the model cannot tell: it looked at less than half of the run, or
 * says more than the whole time. Nothing when nothing is known, or when loads that missed the
 * last-level cache, or a full store queue that the model puts down to misses, took less than 5 % of
 * the time. */
void upgrades_text(const struct report *report, const struct page *page);
/* A new value, null when nothing is known or told (docs/json.md); NULL: out of memory. */
json_t *upgrades_json(const struct report *report);

/* Cycles for which the memory's data bus is busy; 0: it has no limit. */
double memory_bus_cycles(const struct report *report);
