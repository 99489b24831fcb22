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

/* Whether this machine has an event, and lets us sample it in the current process. */
bool live_event_here(const struct live_event *event);

/* How long events were enabled, and how long they were counted: less where more events were asked
 * for than there are counters, which then take turns. ns, all counters together. */
struct live_event_times {
    uint64_t count; /* events counted */
    uint64_t enabled, running;
};

/* Adds what a descriptor that was opened with live_event_attributes() tells. */
bool live_event_read(int counter, struct live_event_times *times);

/* How many events a sample stands for: more than those between two where counters took turns. */
uint64_t live_event_scaled_period(uint64_t period, const struct live_event_times *times);

/* How many events there were: more than were counted where counters took turns. */
double live_event_scaled_count(const struct live_event_times *times);
