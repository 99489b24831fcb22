/* A session of live samples in a store. */
#pragma once

#include "live/live.h"
#include "store/store.h"

/* Adds the session and its events in one transaction, which get the numbers session->id and
 * event_ids[i]. */
bool live_session_add(struct store *store, struct store_session *session,
                      const struct live_event *events, size_t event_count, int64_t *event_ids,
                      struct error *error);

/* The same for a session that is there: of events that were sampled at other periods before. */
bool live_session_resume(struct store *store, int64_t session, const struct live_event *events,
                         size_t event_count, int64_t *event_ids, struct error *error);

/* "cycles", "ns", "events": what an event's period is counted in. */
const char *live_event_period_unit(const struct live_event *event);

/* Whether its samples are of the very instruction that caused it. */
bool live_event_is_precise(const struct live_event *event);
