/* Stride (Baer and Chen 1991): a reference prediction table of 128 entries, 4-way LRU, indexed by
 * static instruction. Of an access at `address`, "right" is address = last + stride:
 *
 *     state           right        wrong
 *     initial         steady       transient, stride set
 *     transient       steady       no prediction, stride set
 *     steady          steady       initial, stride kept
 *     no prediction   transient    no prediction, stride set
 *
 * A new entry is initial with stride 0. Unless the new state is no prediction (or the stride 0) it
 * asks for address + stride; with a `start`, not before so many equal strides in a row. The table
 * keeps each set sorted by last use, so its LRU entry is the last. */
#include <string.h>

#include "memory/prefetch.h"

/* The entry of an instruction, now first in its set; *fresh when it had none. */
static struct stride_entry *find_entry(struct prefetcher *prefetcher, uint32_t insn, bool *fresh) {
    struct stride_entry *set = prefetcher->stride[insn % STRIDE_SETS];
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

/* Equal strides in a row, up to `start`: the last one is among them unless another was kept. */
static void count_steps(struct stride_entry *entry, int64_t last, bool right, uint8_t start) {
    if (!right)
        entry->steps = last == entry->stride;
    else
        entry->steps += entry->steps < start;
}

int64_t stride_step(struct prefetcher *prefetcher, const struct prefetch_trigger *trigger) {
    const uint64_t address = trigger->address;
    const uint32_t insn = trigger->insn;
    bool fresh;
    if (insn == NO_INSN)
        return 0;
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
    count_steps(entry, stride, right, prefetcher->start);
    return entry->state == STRIDE_NO_PREDICTION || entry->steps < prefetcher->start ? 0
                                                                                    : entry->stride;
}
