#include "live/source.h"

#include "util/array.h"

bool live_source_begin(struct live_source *source, const struct live_source_options *options,
                       const struct live_sink *sink, struct error *error) {
    *source = (struct live_source){0};
    const bool tracepoints =
        any_where(i, options->event_count, options->events[i].kind == LIVE_TRACEPOINT);
    if (options->stack_bytes || tracepoints) {
        const struct recorder_options recorder = {.events = options->events,
                                                  .event_count = options->event_count,
                                                  .machine = true,
                                                  .stack_bytes = options->stack_bytes};
        return (source->recorder = recorder_new(&recorder, sink, error));
    }
    const struct collector_options collector = {.events = options->events,
                                                .event_count = options->event_count};
    return (source->collector = collector_new(&collector, error));
}

void live_source_end(struct live_source *source) {
    collector_free(source->collector);
    recorder_free(source->recorder);
    *source = (struct live_source){0};
}

int live_source_descriptor(const struct live_source *source) {
    return source->recorder ? recorder_descriptor(source->recorder)
                            : collector_descriptor(source->collector);
}

/* Of ring buffers all that was there when it began: a round delivers what was complete at the one
 * before. */
bool live_source_drain(struct live_source *source, const struct live_sink *sink,
                       struct error *error) {
    if (source->collector)
        return collector_drain(source->collector, sink, error);
    for (int round = 0; round < 2; round++)
        if (!recorder_deliver(source->recorder, error))
            return false;
    return true;
}

void live_source_set_periods(struct live_source *source, const struct live_event *events) {
    if (source->recorder)
        recorder_set_periods(source->recorder, events);
    else
        collector_set_periods(source->collector, events);
}

void live_source_times(struct live_source *source, struct live_event_times *times) {
    if (source->recorder)
        recorder_times(source->recorder, times);
    else if (source->collector)
        collector_times(source->collector, times);
}

void live_source_statistics(const struct live_source *source,
                            struct collector_statistics *statistics) {
    if (source->collector) {
        collector_statistics(source->collector, statistics);
        return;
    }
    struct recorder_statistics recorded;
    recorder_statistics(source->recorder, &recorded);
    *statistics = (struct collector_statistics){.samples = recorded.samples + recorded.dropped,
                                                .dropped = recorded.dropped,
                                                .bytes = recorded.bytes,
                                                .processors = recorded.processors};
}

void live_source_python(const struct live_source *source, struct python_statistics *statistics) {
    struct recorder_statistics recorded = {0};
    if (source->recorder)
        recorder_statistics(source->recorder, &recorded);
    *statistics = recorded.python;
}
