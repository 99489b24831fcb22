/* Next page: where a sequence of accesses comes near the end of its page, the first line of the
 * page that it comes to, with that page's translation. After Intel's next-page prefetcher
 * (Optimization Reference Manual 248966, "Ivy Bridge: Next Page Prefetcher": sequential accesses
 * that approach the page's boundary, upwards or downwards). How near and how many was measured on
 * Granite Rapids (docs/results/hosts/granite-rapids.md): eight lines, each farther on than the one
 * before, of which the last is among the last ten of 64. */
#include <stddef.h>

#include "memory/prefetch.h"

enum { STEPS = 7, NEAR = STREAM_BYTES * 10 / 64 };

int64_t next_page_step(struct prefetcher *prefetcher, const struct prefetch_trigger *trigger) {
    const struct stream *stream = stream_follow(prefetcher, trigger, STEPS);
    if (!stream || stream->steps < STEPS)
        return 0;
    const int64_t ahead = STREAM_BYTES - stream->last, behind = stream->last + trigger->line_bytes;
    return stream->direction > 0 ? (ahead <= NEAR ? ahead : 0) : behind <= NEAR ? -behind : 0;
}
