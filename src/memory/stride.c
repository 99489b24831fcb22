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
 * asks for address + stride; with a `start`, not before so many equal strides in a row. */
#include "memory/prefetch.h"
#include "util/array.h"

/* The entry of an instruction; *fresh when it had none: that of its set used least recently. */
static struct stride_entry *find_entry(struct prefetcher *prefetcher, uint32_t insn, bool *fresh) {
    struct stride_entry *set = prefetcher->stride[insn % STRIDE_SETS];
    size_t way = index_where(i, STRIDE_WAYS, set[i].insn_plus_one == insn + 1);
    *fresh = way == STRIDE_WAYS;
    if (*fresh)
        way = index_of_least(i, STRIDE_WAYS, set[i].used);
    set[way].used = ++prefetcher->uses;
    return &set[way];
}

/* Equal strides in a row, up to `start`: the last one is among them unless another was kept. */
static void count_steps(struct stride_entry *entry, int64_t last, bool right, uint8_t start) {
    if (!right)
        entry->steps = last == entry->stride;
    else
        entry->steps += entry->steps < start;
}

static const uint8_t NEXT[][2] = {
    [STRIDE_INITIAL] = {STRIDE_TRANSIENT, STRIDE_STEADY},
    [STRIDE_TRANSIENT] = {STRIDE_NO_PREDICTION, STRIDE_STEADY},
    [STRIDE_STEADY] = {STRIDE_INITIAL, STRIDE_STEADY},
    [STRIDE_NO_PREDICTION] = {STRIDE_NO_PREDICTION, STRIDE_TRANSIENT}};

int64_t stride_step(struct prefetcher *prefetcher, const struct prefetch_trigger *trigger) {
    const uint64_t address = trigger->address;
    const uint32_t insn = trigger->insn;
    bool fresh;
    if (insn == NO_INSN)
        return 0;
    struct stride_entry *entry = find_entry(prefetcher, insn, &fresh);
    if (fresh) {
        *entry =
            (struct stride_entry){.last = address, .insn_plus_one = insn + 1, .used = entry->used};
        return 0;
    }
    const int64_t stride = (int64_t)(address - entry->last);
    const bool right = stride == entry->stride;
    entry->stride = entry->state == STRIDE_STEADY ? entry->stride : stride;
    entry->state = NEXT[entry->state][right];
    entry->last = address;
    count_steps(entry, stride, right, prefetcher->start);
    return entry->state == STRIDE_NO_PREDICTION || entry->steps < prefetcher->start ? 0
                                                                                    : entry->stride;
}
