#include "query/time_event.h"

#include "core/stall_causes.h"
#include "util/array.h"

const struct profile_event *profile_set_time_event(const struct profile_set *set) {
    const size_t head = index_where(i, set->event_count, !strcmp(set->events[i].name, "head"));
    const size_t time = index_where(i, set->event_count, profile_event_is_time(&set->events[i]));
    const size_t chosen = set->simulated && head < set->event_count ? head : time;
    return &set->events[chosen < set->event_count ? chosen : 0];
}

bool profile_event_samples_cycles(const struct profile_event *event) {
    return strcmp(event->name, "executions") != 0 && strncmp(event->name, "stall:", 6) != 0 &&
           all_where(i, STALL_EVENTS,
                     strcmp(event->name, stall_event_name((enum stall_event)i)) != 0);
}
