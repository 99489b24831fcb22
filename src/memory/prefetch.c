/* Calls the prefetchers of machine/prefetchers.def directly, without pointers. */
#include "memory/prefetch.h"

#include <string.h>

void prefetcher_init(struct prefetcher *prefetcher, enum prefetcher_kind kind, uint32_t degree,
                     uint32_t start) {
    memset(prefetcher, 0, sizeof *prefetcher);
    prefetcher->kind = kind;
    prefetcher->in_page = machine_prefetchers[kind].in_page;
    prefetcher->by_instruction = machine_prefetchers[kind].by_instruction;
    prefetcher->degree = prefetcher->reach = degree ? degree : 1;
    prefetcher->start = (uint8_t)start;
}

int64_t prefetch_step(struct prefetcher *prefetcher, const struct prefetch_trigger *trigger) {
    switch (prefetcher->kind) {
#define PREFETCHER(value, word, in_page, by_instruction)                                           \
    case PREFETCH_##value:                                                                         \
        return word##_step(prefetcher, trigger);
#include "machine/prefetchers.def"
#undef PREFETCHER
    case PREFETCH_NONE:
    case PREFETCHER_KINDS:
        break;
    }
    return 0;
}
