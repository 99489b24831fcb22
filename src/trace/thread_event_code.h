/* Inside of this room: an event of a thread as THREAD_EVENTS records hold it
 * (docs/trace-format.md). */
#pragma once

#include <stddef.h>

#include "trace/thread_event.h"

enum { THREAD_EVENT_MAX_BYTES = 4 + 16 * 10 };

/* Writes the event, less its `number`. *ticket: `entry` of the event before in the record, 0 for
 * the first; becomes this one's. Returns the bytes written. */
size_t thread_event_encode(const struct thread_event *event, uint64_t *ticket,
                           uint8_t bytes[THREAD_EVENT_MAX_BYTES]);
/* The opposite. Returns where the next event begins; NULL: malformed. */
const uint8_t *thread_event_decode(const uint8_t *bytes, const uint8_t *end, uint64_t *ticket,
                                   struct thread_event *event);
