/* Streamer: a stream (stream.c) that is known late, and runs ahead step by step. "The streamer may
 * prefetch one or two lines for each access" and is "up to 20 lines ahead" (Intel's Optimization
 * Reference Manual 248966, "Data Prefetch to L2 and L3"). On Granite Rapids, in pages that no cache
 * held, it was measured so (docs/results/hosts/granite-rapids.md): nothing comes before a region's
 * tenth access in a direction (or the one behind `start` steps); from then on each access asks for
 * three lines more than were asked for, so that of every line of a page those 3, 5, 7, 9 ahead are
 * there, and of every second one those 3, 4, 5, 6. */
#include <stddef.h>

#include "memory/prefetch.h"

enum { STEPS = 9, MORE_LINES = 3 };

int64_t streamer_step(struct prefetcher *prefetcher, const struct prefetch_trigger *trigger) {
    struct stream *stream = stream_follow(prefetcher, trigger, STEPS);
    if (!stream)
        return 0;
    const int32_t last = (int32_t)stream->last, line = (int32_t)trigger->line_bytes;
    int32_t ahead = (stream->farthest - last) * stream->direction / line;
    ahead = (ahead > 0 ? ahead : 0) + MORE_LINES;
    if (ahead > (int32_t)prefetcher->degree)
        ahead = (int32_t)prefetcher->degree;
    stream->farthest = last + ahead * line * stream->direction;
    prefetcher->reach = (uint32_t)ahead;
    return stream->direction * line;
}
