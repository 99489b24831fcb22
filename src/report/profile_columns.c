#include "report/profile_columns.h"

#include "util/array.h"

/* Of a simulation what profilers say of its cycles; how these split up only when asked for. */
static bool is_shown(const struct profile_set *set, const struct profile_event *event) {
    return !set->simulated || event->scale == set->events[0].scale;
}

static bool choose_events(struct profile_report *report, const char *const *names, size_t count,
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

/* As many steps as there is room for beside names. */
static bool choose_steps(struct profile_report *report, const struct profile_columns *columns,
                         struct timeline *timeline, struct error *error) {
    enum { NAMES = 60, STEPS_LEAST = 20 };
    const unsigned page = columns->page_columns;
    const size_t room = page > NAMES + STEPS_LEAST ? page - NAMES : STEPS_LEAST;
    report->event_count = 1;
    report->timeline = timeline;
    return timeline_read(timeline, report->set, report->events[0]->name,
                         page ? room : TIMELINE_STEPS_MAX, error);
}

bool profile_report_build(struct profile_report *report, const struct profile_columns *columns,
                          struct timeline *timeline, struct profile_table **table,
                          struct error *error) {
    if (!choose_events(report, columns->events, columns->event_count, error) ||
        (columns->over_time && report->event_count &&
         !choose_steps(report, columns, timeline, error)))
        return false;
    if (!report->timeline && report->event_count && report->events[0]->mean)
        report->squares = report->event_count;
    const size_t steps = report->timeline ? report->timeline->count : 0;
    const struct profile_table_options options = {.by = report->by,
                                                  .process = columns->process,
                                                  .image = columns->image,
                                                  .columns = report->event_count + steps +
                                                             (report->squares > 0)};
    report->table = *table = profile_table_new(&options, report->program);
    if (!*table)
        return error_set(error, "out of memory for the profile");
    return add_events(report, *table, error) && profile_table_finish(*table, columns->top, error) &&
           profile_table_any(*table, report->set, error) &&
           (profile_report_add_worth(report) || error_set(error, "out of memory for the report"));
}
