/* Where the daemon has the samples of the whole machine from: counted in the kernel (collector.h),
 * or from ring buffers (recorder.h): with their callers, and of tracepoints, to which no program of
 * the collector's kind can be attached. */
#pragma once

#include "live/collector.h"
#include "live/recorder.h"

struct live_source {
    struct collector *collector; /* or else */
    struct recorder *recorder;
};

struct live_source_options {
    const struct live_event *events; /* live as long as the source */
    size_t event_count;
    uint32_t stack_bytes; /* 0: without callers */
};

/* Delivers to `sink` (copied). live_source_end() either way. */
bool live_source_begin(struct live_source *source, const struct live_source_options *options,
                       const struct live_sink *sink, struct error *error);
void live_source_end(struct live_source *source);

/* As of struct collector. */
int live_source_descriptor(const struct live_source *source);
bool live_source_drain(struct live_source *source, const struct live_sink *sink,
                       struct error *error);
void live_source_set_periods(struct live_source *source, const struct live_event *events);
void live_source_times(struct live_source *source, struct live_event_times *times);
/* Of samples with callers; of others all 0. */
void live_source_python(const struct live_source *source, struct python_statistics *statistics);
void live_source_statistics(const struct live_source *source,
                            struct collector_statistics *statistics);
