/* From a live event to what perf_event_open() takes: of the collectors' own. */
#pragma once

#include <linux/perf_event.h>

#include "live/live.h"

/* Everything but what the collector adds (sample types, buffers). User code alone unless
 * event->kernel; never the idle loop, guests or the hypervisor, where the event can leave them
 * out. Disabled at first. */
void live_event_attributes(const struct live_event *event, struct perf_event_attr *attributes);

/* One line for an event that perf_event_open() refused with `number` (errno): names the sysctl or
 * the capability. Returns false. */
bool live_event_refused(const struct live_event *event, int number, struct error *error);

/* The period for the next stretch: drawn uniformly within 1/32 about the mean. `random`: 64 fresh
 * random bits. */
uint64_t live_event_period(const struct live_event *event, uint64_t random);
