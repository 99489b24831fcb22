/* All events of the threads of a trace file, read in one pass over the file that decodes no
 * instructions. Memory is bounded by the number of events (120 bytes each) and of threads. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "trace/trace.h"
#include "util/error.h"

struct thread_event_list {
    /* By thread, each thread's in the order in which it made the calls: event n of thread t is
     * events[first[t] + n], of those below first[t + 1]. `position` is as captured: instructions
     * of the thread that did not complete, for they raised a signal, do not count (they do in
     * batches). */
    struct thread_event *events;
    size_t count;
    size_t *first; /* thread_count + 1 */
    struct trace_thread *threads;
    uint64_t *before; /* by thread: instructions before its first DATA, which positions do not
                         count; UINT64_MAX: it has none */
    uint32_t thread_count;
};

/* "-" is standard input. False: the list is empty. */
bool thread_events_read(const char *path, struct thread_event_list *list, struct error *error);
void thread_events_free(struct thread_event_list *list);

/* NULL: there is none. */
static inline const struct thread_event *thread_event_at(const struct thread_event_list *list,
                                                         uint32_t thread, uint32_t number) {
    return thread < list->thread_count && number < list->first[thread + 1] - list->first[thread]
               ? &list->events[list->first[thread] + number]
               : NULL;
}
