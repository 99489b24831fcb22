/* Sequential prefetchers fetch the block after the one that triggers them. Next-line stays in the
 * page (machine/prefetchers.def); on-miss and tagged are those of the hybrid model (Chen 2009).
 * Adjacent completes an aligned pair of lines: Intel's spatial prefetcher (Optimization Reference
 * Manual 248966, "Data Prefetch to L2 and L3"). */
#include "memory/prefetch.h"

int64_t next_line_step(struct prefetcher *prefetcher, const struct prefetch_trigger *trigger) {
    (void)prefetcher;
    return trigger->missed ? trigger->line_bytes : 0;
}

int64_t on_miss_step(struct prefetcher *prefetcher, const struct prefetch_trigger *trigger) {
    (void)prefetcher;
    return trigger->missed ? trigger->line_bytes : 0;
}

int64_t tagged_step(struct prefetcher *prefetcher, const struct prefetch_trigger *trigger) {
    (void)prefetcher;
    return trigger->missed || trigger->first_use ? trigger->line_bytes : 0;
}

int64_t adjacent_step(struct prefetcher *prefetcher, const struct prefetch_trigger *trigger) {
    const int64_t line = trigger->line_bytes;
    (void)prefetcher;
    if (!trigger->missed)
        return 0;
    return trigger->address & trigger->line_bytes ? -line : line;
}
