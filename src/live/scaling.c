#include "live/scaling.h"

#include <math.h>

static const double FOLLOWED = 0.02;

static uint64_t period_of(const struct live_scaling *scaling, size_t i,
                          const struct live_event *event, const struct live_event_times *times) {
    /* Processors that went off line have taken their times along. */
    if (times->enabled < scaling->saved[i].enabled || times->running < scaling->saved[i].running)
        return event->period;
    const struct live_event_times since = {.enabled = times->enabled - scaling->saved[i].enabled,
                                           .running = times->running - scaling->saved[i].running};
    const uint64_t period = live_event_scaled_period(event->period, &since);
    const double last = (double)scaling->stored[i];
    const bool same =
        event->period == scaling->sampled[i] && fabs((double)period - last) < FOLLOWED * last;
    return same ? scaling->stored[i] : period;
}

bool live_scaling_find(const struct live_scaling *scaling, const struct live_event *events,
                       const struct live_event_times *times, size_t count,
                       struct live_event *stored) {
    bool differs = false;
    for (size_t i = 0; i < count; i++) {
        stored[i] = events[i];
        stored[i].period = period_of(scaling, i, &events[i], &times[i]);
        differs |= stored[i].period != scaling->stored[i];
    }
    return differs;
}

void live_scaling_saved(struct live_scaling *scaling, const struct live_event *events,
                        const struct live_event_times *times, size_t count,
                        const struct live_event *stored) {
    for (size_t i = 0; i < count; i++) {
        scaling->saved[i] = times[i];
        scaling->sampled[i] = events[i].period;
        scaling->stored[i] = stored[i].period;
    }
}
