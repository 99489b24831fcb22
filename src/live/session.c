#include "live/session.h"

const char *live_event_period_unit(const struct live_event *event) {
    return event->kind == LIVE_CPU_CLOCK ? "ns" : event->kind == LIVE_CYCLES ? "cycles" : "events";
}

bool live_session_add(struct store *store, struct store_session *session,
                      const struct live_event *events, size_t event_count, int64_t *event_ids,
                      struct error *error) {
    if (!store_begin(store, error))
        return false;
    bool added = store_add_session(store, session, &session->id, error);
    for (size_t i = 0; added && i < event_count; i++) {
        struct store_event event = {.name = events[i].name,
                                    .unit = "samples",
                                    .period = events[i].period,
                                    .period_unit = live_event_period_unit(&events[i]),
                                    .precise = events[i].precise > 1};
        added = store_add_event(store, session->id, &event, &event_ids[i], error);
    }
    if (added && store_commit(store, error))
        return true;
    store_rollback(store);
    session->id = 0;
    return false;
}
