#include "live/session.h"

#include <string.h>

const char *live_event_period_unit(const struct live_event *event) {
    return event->kind == LIVE_CPU_CLOCK || live_event_lasts(event->kind) ? "ns"
           : event->kind == LIVE_CYCLES                                   ? "cycles"
                                                                          : "events";
}

/* The kernel tells where what it does itself happened; of processors it takes a precise form. */
bool live_event_is_precise(const struct live_event *event) {
    return event->precise > 1 || event->kind == LIVE_SOFTWARE || event->kind == LIVE_TRACEPOINT;
}

static bool add_event(struct store *store, int64_t session, const struct live_event *event,
                      int64_t *id, struct error *error) {
    const struct store_event added = {.name = event->name,
                                      .unit = live_event_lasts(event->kind) ? "ns" : "samples",
                                      .period = event->period,
                                      .period_unit = live_event_period_unit(event),
                                      .precise = live_event_is_precise(event)};
    return store_add_event(store, session, &added, id, error);
}

static bool end_addition(struct store *store, bool added, struct error *error) {
    if (added && store_commit(store, error))
        return true;
    store_rollback(store);
    return false;
}

bool live_session_add(struct store *store, struct store_session *session,
                      const struct live_event *events, size_t event_count, int64_t *event_ids,
                      struct error *error) {
    if (!store_begin(store, error))
        return false;
    bool added = store_add_session(store, session, &session->id, error);
    for (size_t i = 0; added && i < event_count; i++)
        added = add_event(store, session->id, &events[i], &event_ids[i], error);
    if (end_addition(store, added, error))
        return true;
    session->id = 0;
    return false;
}

struct known_events {
    int64_t session;
    const struct live_event *events;
    size_t event_count;
    int64_t *ids; /* 0: not there */
};

static bool find_events(void *context, const struct store_session *session,
                        const struct store_event *events, size_t event_count) {
    struct known_events *known = context;
    if (session->id != known->session)
        return true;
    for (size_t i = 0; i < known->event_count; i++)
        for (size_t k = 0; k < event_count; k++)
            if (!strcmp(events[k].name, known->events[i].name) &&
                events[k].period == known->events[i].period)
                known->ids[i] = events[k].id;
    return false;
}

bool live_session_resume(struct store *store, int64_t session, const struct live_event *events,
                         size_t event_count, int64_t *event_ids, struct error *error) {
    struct known_events known = {session, events, event_count, event_ids};
    memset(event_ids, 0, event_count * sizeof *event_ids);
    if (!store_each_session(store, find_events, &known, error) || !store_begin(store, error))
        return false;
    bool added = true;
    for (size_t i = 0; added && i < event_count; i++)
        if (!event_ids[i])
            added = add_event(store, session, &events[i], &event_ids[i], error);
    return end_addition(store, added, error);
}
