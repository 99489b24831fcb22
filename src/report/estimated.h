/* What saved simulations were estimated from, as reports of the store have it. */
#pragma once

#include <jansson.h>

#include "query/profile_set.h"
#include "report/report.h"

/* " ± 1.2 %, estimated from 160 regions", behind a total of the event; nothing where every cycle
 * was simulated. */
void estimated_text(const struct profile_event *event, FILE *file);
/* The same of one event in a store. */
void estimate_text(const struct store_event *event, FILE *file);
/* What a figure of the set, all of it simulated, rests on. False: out of memory. */
bool estimated_note(const struct profile_set *set, const struct profile_event *event,
                    struct report *report);
/* Half of the 95 % interval of the event's sum, as a part of it; 0: every cycle was simulated;
 * negative: not known. */
double estimated_interval(const struct profile_event *event);
/* null where every cycle was simulated. */
json_t *estimated_json(const struct profile_event *event);
json_t *estimate_json(const struct store_event *event);
