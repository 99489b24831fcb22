/* See prefetch.h. The table keeps each set sorted by last use, so its LRU entry is the last. */
#include "memory/prefetch.h"

#include <string.h>

/* The entry of an instruction, now first in its set; *fresh when it had none. */
static struct stride_entry *find_entry(struct prefetcher *prefetcher, uint32_t insn, bool *fresh) {
    struct stride_entry *set = prefetcher->table[insn % STRIDE_SETS];
    *fresh = false;
    if (set[0].insn_plus_one == insn + 1)
        return &set[0];
    unsigned way = 1;
    while (way < STRIDE_WAYS - 1 && set[way].insn_plus_one != insn + 1)
        way++;
    struct stride_entry entry = set[way];
    *fresh = entry.insn_plus_one != insn + 1;
    memmove(&set[1], &set[0], way * sizeof set[0]);
    set[0] = entry;
    return &set[0];
}

static int64_t stride_step(struct prefetcher *prefetcher, uint64_t address, uint32_t insn) {
    bool fresh;
    struct stride_entry *entry = find_entry(prefetcher, insn, &fresh);
    if (fresh) {
        *entry = (struct stride_entry){.last = address, .insn_plus_one = insn + 1};
        return 0;
    }
    const int64_t stride = (int64_t)(address - entry->last);
    const bool right = stride == entry->stride;
    switch ((enum stride_state)entry->state) {
    case STRIDE_INITIAL:
        entry->state = right ? STRIDE_STEADY : STRIDE_TRANSIENT;
        entry->stride = stride;
        break;
    case STRIDE_TRANSIENT:
        entry->state = right ? STRIDE_STEADY : STRIDE_NO_PREDICTION;
        entry->stride = stride;
        break;
    case STRIDE_STEADY:
        entry->state = right ? STRIDE_STEADY : STRIDE_INITIAL;
        break;
    case STRIDE_NO_PREDICTION:
        entry->state = right ? STRIDE_TRANSIENT : STRIDE_NO_PREDICTION;
        entry->stride = stride;
        break;
    }
    entry->last = address;
    return entry->state == STRIDE_NO_PREDICTION ? 0 : entry->stride;
}

int64_t prefetch_step(struct prefetcher *prefetcher, uint64_t address, uint32_t line_bytes,
                      uint32_t insn, bool missed, bool first_use) {
    switch (prefetcher->kind) {
    case PREFETCH_NONE:
        return 0;
    case PREFETCH_NEXT_LINE:
    case PREFETCH_ON_MISS:
        return missed ? line_bytes : 0;
    case PREFETCH_TAGGED:
        return missed || first_use ? line_bytes : 0;
    case PREFETCH_STRIDE:
        return insn == NO_INSN ? 0 : stride_step(prefetcher, address, insn);
    }
    return 0;
}

bool prefetch_stays_in_page(const struct prefetcher *prefetcher) {
    return prefetcher->kind == PREFETCH_NEXT_LINE || prefetcher->kind == PREFETCH_STRIDE;
}
