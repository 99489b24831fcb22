/* Inside of this room: events of threads from when they come until their instructions do, and what
 * they tell of where threads come from. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "trace/trace.h"
#include "util/error.h"

struct event_queue {
    struct queued_events *threads; /* by number */
    size_t thread_count, capacity;
};

void event_queue_free(struct event_queue *queue);

/* The thread's first DATA begins behind so many instructions; those after it are of no effect. */
bool event_queue_begin(struct event_queue *queue, uint32_t thread, uint64_t first_insn,
                       struct error *error);
/* Numbers the event. `wanted`: keeps it until it is taken. The caller bounds thread numbers. */
bool event_queue_add(struct event_queue *queue, const struct thread_event *event, bool wanted,
                     struct error *error);
/* The thread's next event at a position; those before it are dropped. False: there is none. */
bool event_queue_take(struct event_queue *queue, uint32_t thread, uint64_t position,
                      struct thread_event *event);
/* The thread's next event from `first` to `last`; those before are dropped. */
bool event_queue_take_within(struct event_queue *queue, uint32_t thread, uint64_t first,
                             uint64_t last, struct thread_event *event);
/* Nothing more of the thread is taken. */
void event_queue_forget(struct event_queue *queue, uint32_t thread);

struct trace_thread event_queue_origin(const struct event_queue *queue, uint32_t thread);
