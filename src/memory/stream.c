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
 * regions that were read last. */
#include <stdlib.h>

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

/* Of those that go on in this line of a region, its first or last, the one used most recently, as
 * of there; STREAMS: there is none. */
static size_t find_before(struct prefetcher *prefetcher, uint64_t region, uint32_t line,
                          uint32_t bytes) {
    struct stream *streams = prefetcher->streams;
    size_t found = STREAMS;
    if (line && line != STREAM_BYTES - bytes)
        return STREAMS;
    for (size_t i = 0; i < STREAMS; i++)
        if (goes_on(&streams[i], region, line, bytes) &&
            (found == STREAMS || streams[i].used > streams[found].used))
            found = i;
    if (found < STREAMS)
        streams[found] = moved_on(streams[found]);
    return found;
}

/* A new one takes the place of the one used least recently. */
static size_t take_oldest(struct prefetcher *prefetcher) {
    struct stream *streams = prefetcher->streams;
    const size_t oldest = index_of_least(i, STREAMS, streams[i].used);
    streams[oldest] = (struct stream){.region_plus_one = 0};
    return oldest;
}

/* The stream of a line of a region; a new one is of no region yet. */
static struct stream *find_stream(struct prefetcher *prefetcher, uint64_t region, uint32_t line,
                                  uint32_t bytes) {
    struct stream *streams = prefetcher->streams;
    uint8_t *hint = &prefetcher->hints[region % STREAM_HINTS];
    size_t at = *hint;
    if (streams[at].region_plus_one != region + 1) {
        at = index_where(i, STREAMS, streams[i].region_plus_one == region + 1);
        if (at == STREAMS && prefetcher->kind == PREFETCH_LONG_STREAM)
            at = find_before(prefetcher, region, line, bytes);
        if (at == STREAMS)
            at = take_oldest(prefetcher);
        *hint = (uint8_t)at;
    }
    streams[at].used = ++prefetcher->uses;
    return &streams[at];
}

struct stream *stream_follow(struct prefetcher *prefetcher, const struct prefetch_trigger *trigger,
                             uint8_t own) {
    const uint8_t start = prefetcher->start ? prefetcher->start : own;
    const uint64_t region = trigger->address / STREAM_BYTES;
    const uint32_t line = trigger->address % STREAM_BYTES & ~(trigger->line_bytes - 1);
    struct stream *stream = find_stream(prefetcher, region, line, trigger->line_bytes);
    if (!stream->region_plus_one) {
        stream->region_plus_one = region + 1;
        stream->last = line;
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
