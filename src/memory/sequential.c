/* Sequential prefetchers fetch the block after the one that triggers them. Next-line stays in the
 * page (machine/prefetchers.def); on-miss and tagged are those of the hybrid model (Chen 2009). */
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
