#include "trace/event_queue.h"

#include <inttypes.h>
#include <stdlib.h>

#include "util/array.h"

/* A system call takes two words of a chunk (ring.h), and what is written leaves the next chunk of
 * its thread behind it. */
enum { MOST_WAITING = 1 << 17 };

struct queued_events {
    struct thread_event *events;
    size_t first, count, capacity; /* [first, count) wait */
    uint64_t before;               /* its first_insn: instructions before all of its DATA */
    uint64_t position;             /* of the last event */
    uint32_t number;               /* of the next event */
    bool begun;                    /* it has DATA */
    bool created;                  /* by a thread of the trace, as the rest tells */
    uint32_t creator, creator_event;
    uint64_t creator_position; /* as of the event */
};

void event_queue_free(struct event_queue *queue) {
    for (size_t i = 0; i < queue->thread_count; i++)
        free(queue->threads[i].events);
    free(queue->threads);
    *queue = (struct event_queue){0};
}

static struct queued_events *find(struct event_queue *queue, uint32_t thread, struct error *error) {
    if (!array_zeroed_room(queue->threads, queue->capacity, (size_t)thread + 1))
        return error_null(error, "out of memory for %" PRIu32 " threads", thread);
    if (queue->thread_count <= thread)
        queue->thread_count = (size_t)thread + 1;
    return &queue->threads[thread];
}

bool event_queue_begin(struct event_queue *queue, uint32_t thread, uint64_t first_insn,
                       struct error *error) {
    struct queued_events *queued = find(queue, thread, error);
    if (queued && !queued->begun)
        queued->before = first_insn;
    if (queued)
        queued->begun = true;
    return queued;
}

static bool note_created(struct event_queue *queue, const struct thread_event *event,
                         uint32_t number, struct error *error) {
    struct queued_events *created = find(queue, event->other, error);
    if (!created || created->created)
        return created ? error_set(error, "thread %" PRIu32 " is created twice", event->other)
                       : false;
    created->created = true;
    created->creator = event->thread;
    created->creator_event = number;
    created->creator_position = event->position;
    return true;
}

static void close_ranks(struct queued_events *queued) {
    queued->count -= queued->first;
    memmove(queued->events, queued->events + queued->first, queued->count * sizeof *queued->events);
    queued->first = 0;
}

static bool wait_for_data(struct queued_events *queued, const struct thread_event *event,
                          uint32_t number, struct error *error) {
    if (queued->first && queued->count == queued->capacity)
        close_ranks(queued);
    if (queued->count >= MOST_WAITING)
        return error_set(error, "more than %d events of thread %" PRIu32 " before their data",
                         MOST_WAITING, event->thread);
    if (!array_push(queued->events, queued->capacity, queued->count, *event))
        return error_set(error, "out of memory for events of threads");
    queued->events[queued->count - 1].number = number;
    return true;
}

bool event_queue_add(struct event_queue *queue, const struct thread_event *event, bool wanted,
                     struct error *error) {
    struct queued_events *queued = find(queue, event->thread, error);
    if (!queued)
        return false;
    if (event->position < queued->position)
        return error_set(error, "events of thread %" PRIu32 " are out of order", event->thread);
    const uint32_t number = queued->number++;
    queued->position = event->position;
    if (wanted && !wait_for_data(queued, event, number, error))
        return false;
    return event->kind != THREAD_EVENT_CREATE || event->other == THREAD_EVENT_NO_THREAD ||
           note_created(queue, event, number, error);
}

bool event_queue_take_within(struct event_queue *queue, uint32_t thread, uint64_t first,
                             uint64_t last, struct thread_event *event) {
    if (thread >= queue->thread_count)
        return false;
    struct queued_events *queued = &queue->threads[thread];
    while (queued->first < queued->count && queued->events[queued->first].position < first)
        queued->first++;
    if (queued->first == queued->count || queued->events[queued->first].position > last)
        return false;
    *event = queued->events[queued->first++];
    return true;
}

bool event_queue_take(struct event_queue *queue, uint32_t thread, uint64_t position,
                      struct thread_event *event) {
    return event_queue_take_within(queue, thread, position, position, event);
}

void event_queue_forget(struct event_queue *queue, uint32_t thread) {
    if (thread >= queue->thread_count)
        return;
    struct queued_events *queued = &queue->threads[thread];
    free(queued->events);
    queued->events = NULL;
    queued->first = queued->count = queued->capacity = 0;
}

struct trace_thread event_queue_origin(const struct event_queue *queue, uint32_t thread) {
    if (thread >= queue->thread_count || !queue->threads[thread].created)
        return (struct trace_thread){.creator = THREAD_EVENT_NO_THREAD};
    const struct queued_events *created = &queue->threads[thread];
    uint64_t before = queue->threads[created->creator].before;
    return (struct trace_thread){.creator = created->creator,
                                 .creator_event = created->creator_event,
                                 .creator_position = created->creator_position > before
                                                         ? created->creator_position - before
                                                         : 0};
}
