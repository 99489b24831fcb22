/* Where more events are asked for than a processor can count at once, its counters take turns, and
 * a sample stands for more events than lie between two: for as many more as the time in which they
 * were asked for is longer than that in which they were counted. Profiles have this as the period
 * of their events, so that samples stay what they are, numbers of samples.
 *
 *     period 1000, asked for 100 ms, counted 43 ms: 1000 × 100/43 = 2326 */
#pragma once

#include "live/event.h"

struct live_scaling {
    struct live_event_times saved[LIVE_EVENTS_MAX];             /* up to the last save */
    uint64_t sampled[LIVE_EVENTS_MAX], stored[LIVE_EVENTS_MAX]; /* periods of the last save */
};

/* Periods of what was sampled since the last save: `events` as they are sampled, `times` of all of
 * the run, `stored` a copy of the events with their periods in the store. A change of less than 2 %
 * keeps the last period. True: some period is not that of the last save. */
bool live_scaling_find(const struct live_scaling *scaling, const struct live_event *events,
                       const struct live_event_times *times, size_t count,
                       struct live_event *stored);

/* What was found has been saved. */
void live_scaling_saved(struct live_scaling *scaling, const struct live_event *events,
                        const struct live_event_times *times, size_t count,
                        const struct live_event *stored);
