#include "report/profile_columns.h"

#include "query/timeline.h"

#include "util/array.h"

/* Of a simulation what profilers say of its cycles; how these split up only when asked for. */
static bool is_shown(const struct profile_set *set, const struct profile_event *event) {
    return !set->simulated || event->scale == set->events[0].scale;
}

bool profile_report_choose(struct profile_report *report, const char *const *names, size_t count,
                           struct error *error) {
    const struct profile_set *set = report->set;
    for (size_t i = 0; i < count; i++) {
        const struct profile_event *event = profile_set_event(set, names[i], error);
        if (!event)
            return false;
        for (size_t k = 0; k < report->event_count; k++)
            if (report->events[k] == event)
                return error_set(error, "--event %s: it is there twice", event->name);
        report->events[report->event_count++] = event;
    }
    for (size_t i = 0; i < set->event_count && !count; i++)
        if (report->event_count < PROFILE_EVENTS_MAX && is_shown(set, &set->events[i]))
            report->events[report->event_count++] = &set->events[i];
    return true;
}

static bool add_events(const struct profile_report *report, struct profile_table *table,
                       struct error *error) {
    if (report->timeline)
        return profile_table_add_over_time(table, report->set, report->events[0], report->timeline,
                                           error);
    return all_where(i, report->event_count,
                     profile_table_add_set(table, report->set, report->events[i], i, error)) &&
           (!report->squares || profile_table_add_squares(table, report->set, report->events[0],
                                                          report->squares, error));
}

bool profile_report_fill(const struct profile_report *report, struct profile_table *table,
                         uint32_t top, struct error *error) {
    return add_events(report, table, error) && profile_table_finish(table, top, error) &&
           profile_table_any(table, report->set, error);
}
