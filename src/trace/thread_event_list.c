/* Events come in the order in which calls returned, over all threads: counting sort by thread keeps
 * that order within each. */
#include "trace/thread_event_list.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/event_queue.h"
#include "trace/item.h"
#include "util/array.h"

enum { THREAD_MAX_AHEAD = 1 << 16 /* by which a new thread number may exceed all before */ };

struct reading {
    struct item_source source;
    struct thread_event *events; /* as they come */
    size_t count, capacity;
    uint64_t *before; /* by thread: instructions before its first DATA; UINT64_MAX: it had none */
    size_t before_capacity;
    uint32_t thread_count;
    struct event_queue origins;
};

static bool out_of_memory(struct error *error) {
    return error_set(error, "out of memory for events of threads");
}

static bool count_thread(struct reading *reading, uint32_t thread, struct error *error) {
    if (thread < reading->thread_count)
        return true;
    if (thread - reading->thread_count > THREAD_MAX_AHEAD)
        return error_set(error, "thread number %" PRIu32 " after only %" PRIu32 " threads", thread,
                         reading->thread_count);
    if (!array_room(reading->before, reading->before_capacity, (size_t)thread + 1))
        return out_of_memory(error);
    while (reading->thread_count <= thread)
        reading->before[reading->thread_count++] = UINT64_MAX;
    return true;
}

static bool take_data(struct reading *reading, const struct item_data *data, struct error *error) {
    if (!count_thread(reading, data->thread, error))
        return false;
    if (reading->before[data->thread] == UINT64_MAX)
        reading->before[data->thread] = data->first_insn;
    return event_queue_begin(&reading->origins, data->thread, data->first_insn, error);
}

static bool take_event(struct reading *reading, const struct thread_event *event,
                       struct error *error) {
    return count_thread(reading, event->thread, error) &&
           (event->other == THREAD_EVENT_NO_THREAD || count_thread(reading, event->other, error)) &&
           event_queue_add(&reading->origins, event, false, error) &&
           (array_push(reading->events, reading->capacity, reading->count, *event) ||
            out_of_memory(error));
}

static bool read_items(struct reading *reading, struct error *error) {
    struct item item;
    int status;
    bool good = true;
    while (good && (status = reading->source.next(reading->source.context, &item, error)) != 0)
        good = status > 0 &&
               (item.kind == ITEM_DATA           ? take_data(reading, &item.data, error)
                : item.kind == ITEM_THREAD_EVENT ? take_event(reading, &item.event, error)
                                                 : true);
    return good;
}

static bool sort(const struct reading *reading, struct thread_event_list *list,
                 struct error *error) {
    const uint32_t threads = reading->thread_count;
    list->first = calloc((size_t)threads + 2, sizeof *list->first);
    list->events = malloc((reading->count + 1) * sizeof *list->events);
    list->threads = malloc(((size_t)threads + 1) * sizeof *list->threads);
    if (!list->first || !list->events || !list->threads)
        return out_of_memory(error);
    list->thread_count = threads;
    list->before = malloc(((size_t)threads + 1) * sizeof *list->before);
    if (!list->before)
        return out_of_memory(error);
    for (uint32_t i = 0; i < threads; i++)
        list->before[i] = reading->before[i];
    list->count = reading->count;
    size_t *place =
        list->first + 1; /* where the thread's next event goes; in the end its last + 1 */
    for (size_t i = 0; i < reading->count; i++)
        place[reading->events[i].thread + 1]++;
    for (uint32_t i = 0; i < threads; i++) {
        place[i + 1] += place[i];
        list->threads[i] = event_queue_origin(&reading->origins, i);
    }
    for (size_t i = 0; i < reading->count; i++) {
        const struct thread_event *event = &reading->events[i];
        const uint64_t before = reading->before[event->thread];
        struct thread_event *to = &list->events[place[event->thread]++];
        *to = *event;
        to->position -= before < event->position ? before : 0;
    }
    for (uint32_t i = 0; i < threads; i++)
        for (size_t k = list->first[i]; k < list->first[i + 1]; k++)
            list->events[k].number = (uint32_t)(k - list->first[i]);
    return true;
}

bool thread_events_read(const char *path, struct thread_event_list *list, struct error *error) {
    struct reading reading = {0};
    *list = (struct thread_event_list){0};
    if (!file_source_open_outline(path, &reading.source, error))
        return false;
    bool good = read_items(&reading, error) && sort(&reading, list, error);
    reading.source.close(reading.source.context);
    event_queue_free(&reading.origins);
    free(reading.events);
    free(reading.before);
    if (!good)
        thread_events_free(list);
    return good;
}

void thread_events_free(struct thread_event_list *list) {
    free(list->events);
    free(list->first);
    free(list->threads);
    free(list->before);
    *list = (struct thread_event_list){0};
}
