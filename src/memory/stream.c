/* Stream: looks for sequences of lines that ascend or descend within 4 KiB, whichever instructions
 * read them, and then asks for the lines ahead. After Intel's streamer (Optimization Reference
 * Manual 248966, "Data Prefetch to L2 and L3": 32 streams, one per 4 KiB page, forward or backward,
 * up to 20 lines ahead). Of the reads of one region
 *
 *     the same line as before       changes nothing
 *     a line farther on             one more step in this direction
 *     a line in the other direction turns the stream: its first step
 *
 * and from the second step in a direction on, or the one that `start` says, each asks for the lines
 * ahead of it. In a line stream a step over a line is none, and what comes behind it begins anew
 * (AMD's stream prefetchers "fetch additional sequential lines", Software Optimization Guide for
 * Family 19h 56665, 2.12). A long stream is a line stream that goes on where it comes to the next
 * region, and asks for lines beyond its page, with their translation: as measured on Zen 3
 * (docs/results/memory-streams.md), where pages in a row have no beginnings. The table holds the
 * regions that were read last, most recent first. */
#include <stdlib.h>
#include <string.h>

#include "memory/prefetch.h"
#include "util/array.h"

enum { STEPS = 2 };

/* Whether a stream that goes on comes to the first line of a region in its direction. */
static bool goes_on(const struct stream *stream, uint64_t region, uint32_t line, uint32_t bytes) {
    const uint32_t end = STREAM_BYTES - bytes;
    if (stream->direction > 0)
        return stream->region_plus_one == region && line == 0 && stream->last == end;
    return stream->direction < 0 && stream->region_plus_one == region + 2 && line == end &&
           stream->last == 0;
}

/* The stream, as of the region that it comes to. */
static struct stream moved_on(struct stream stream) {
    stream.region_plus_one += (uint64_t)(int64_t)stream.direction;
    stream.last -= (uint32_t)(stream.direction * STREAM_BYTES);
    return stream;
}

/* The stream of a line of a region, now first; a new one takes the place of the one used least
 * recently. */
static struct stream *find_stream(struct prefetcher *prefetcher, uint64_t region, uint32_t line,
                                  uint32_t bytes) {
    struct stream *streams = prefetcher->streams;
    size_t at = index_where(i, STREAMS, streams[i].region_plus_one == region + 1);
    const bool known = at < STREAMS;
    if (!known && prefetcher->kind == PREFETCH_LONG_STREAM)
        at = index_where(i, STREAMS, goes_on(&streams[i], region, line, bytes));
    struct stream stream = {.region_plus_one = 0};
    if (at < STREAMS)
        stream = known ? streams[at] : moved_on(streams[at]);
    else
        at = STREAMS - 1;
    memmove(&streams[1], &streams[0], at * sizeof *streams);
    streams[0] = stream;
    return &streams[0];
}

struct stream *stream_follow(struct prefetcher *prefetcher, const struct prefetch_trigger *trigger,
                             uint8_t own) {
    const uint8_t start = prefetcher->start ? prefetcher->start : own;
    const uint64_t region = trigger->address / STREAM_BYTES;
    const uint32_t line = trigger->address % STREAM_BYTES & ~(trigger->line_bytes - 1);
    struct stream *stream = find_stream(prefetcher, region, line, trigger->line_bytes);
    if (!stream->region_plus_one) {
        *stream = (struct stream){.region_plus_one = region + 1, .last = line};
        return NULL;
    }
    if (line == stream->last)
        return NULL;
    const int32_t step = (int32_t)line - (int32_t)stream->last;
    const int8_t direction = step > 0 ? 1 : -1;
    if (direction != stream->direction) {
        stream->steps = 0;
        stream->farthest = (int32_t)line;
    }
    const bool by_lines =
        prefetcher->kind == PREFETCH_LINE_STREAM || prefetcher->kind == PREFETCH_LONG_STREAM;
    if (by_lines && abs(step) != (int32_t)trigger->line_bytes)
        stream->steps = 0;
    else
        stream->steps += stream->steps < start;
    stream->direction = direction;
    stream->last = line;
    return stream->steps < start ? NULL : stream;
}

static int64_t step_of(struct prefetcher *prefetcher, const struct prefetch_trigger *trigger) {
    const struct stream *stream = stream_follow(prefetcher, trigger, STEPS);
    return stream ? stream->direction * (int64_t)trigger->line_bytes : 0;
}

int64_t stream_step(struct prefetcher *prefetcher, const struct prefetch_trigger *trigger) {
    return step_of(prefetcher, trigger);
}

int64_t line_stream_step(struct prefetcher *prefetcher, const struct prefetch_trigger *trigger) {
    return step_of(prefetcher, trigger);
}

int64_t long_stream_step(struct prefetcher *prefetcher, const struct prefetch_trigger *trigger) {
    return step_of(prefetcher, trigger);
}
