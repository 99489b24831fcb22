#include "attribute/memory_ranges.h"

#include <assert.h>
#include <string.h>

#include "util/array.h"

enum { MOST_RANGES = 1 << 16 };

size_t memory_ranges_before(const struct memory_ranges *ranges, uint64_t address) {
    size_t low = 0, high = ranges->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (ranges->items[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct range *memory_ranges_at(const struct memory_ranges *ranges, uint64_t address) {
    const size_t at = memory_ranges_before(ranges, address);
    const struct range *range = at ? &ranges->items[at - 1] : NULL;
    return range && address < range->end ? range : NULL;
}

static bool insert(struct memory_ranges *ranges, size_t at, struct range range) {
    if (ranges->count >= MOST_RANGES)
        return true; /* known as nothing */
    if (!array_room(ranges->items, ranges->capacity, ranges->count + 1))
        return false;
    memmove(ranges->items + at + 1, ranges->items + at,
            (ranges->count - at) * sizeof *ranges->items);
    ranges->items[at] = range;
    ranges->count++;
    return true;
}

static void drop(struct memory_ranges *ranges, size_t at) {
    ranges->count--;
    memmove(ranges->items + at, ranges->items + at + 1,
            (ranges->count - at) * sizeof *ranges->items);
}

bool memory_ranges_clear(struct memory_ranges *ranges, uint64_t start, uint64_t end) {
    size_t at = memory_ranges_before(ranges, start);
    assert(!at || ranges->items);
    if (at && ranges->items[at - 1].end > start) {
        struct range *before = &ranges->items[at - 1];
        const struct range rest = {end, before->end, before->object, before->heap};
        before->end = start;
        if (rest.end > end && !insert(ranges, at, rest))
            return false;
        if (ranges->items[at - 1].start == start)
            drop(ranges, --at);
    }
    while (at < ranges->count && ranges->items[at].end <= end)
        drop(ranges, at);
    if (at < ranges->count && ranges->items[at].start < end)
        ranges->items[at].start = end;
    return true;
}

bool memory_ranges_map(struct memory_ranges *ranges, struct range range) {
    return memory_ranges_clear(ranges, range.start, range.end) &&
           insert(ranges, memory_ranges_before(ranges, range.start), range);
}

void memory_ranges_drop_heap(struct memory_ranges *ranges) {
    for (size_t i = ranges->count; i-- > 0;)
        if (ranges->items[i].heap)
            drop(ranges, i);
}

bool memory_ranges_copy(struct memory_ranges *ranges, const struct memory_ranges *from) {
    if (!array_room(ranges->items, ranges->capacity, from->count))
        return false;
    if (from->count)
        memcpy(ranges->items, from->items, from->count * sizeof *from->items);
    ranges->count = from->count;
    return true;
}
