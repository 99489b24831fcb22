/* A sorted array: processes have tens of executable mappings, and far more samples than mappings.
 */
#include "live/address_map.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/order.h"

/* The first range that ends behind the address. */
static size_t first_behind(const struct address_map *map, uint64_t address) {
    return first_where(i, map->count, map->ranges[i].end > address);
}

static void cut_front(struct address_range *range, uint64_t start) {
    range->offset += start - range->start;
    range->start = start;
}

bool address_map_add(struct address_map *map, const struct address_range *range) {
    if (range->start >= range->end)
        return true;
    if (!array_room(map->ranges, map->capacity, map->count + 2))
        return false;
    map->changes++;
    /* What it covers, from `first` to `last`, gives way to what remains before and behind it. */
    struct address_range pieces[3];
    size_t first = first_behind(map, range->start), last = first, count = 0;
    while (last < map->count && map->ranges[last].start < range->end)
        last++;
    if (first < last && map->ranges[first].start < range->start) {
        pieces[count] = map->ranges[first];
        pieces[count++].end = range->start;
    }
    pieces[count++] = *range;
    if (first < last && map->ranges[last - 1].end > range->end) {
        pieces[count] = map->ranges[last - 1];
        cut_front(&pieces[count++], range->end);
    }
    memmove(&map->ranges[first + count], &map->ranges[last],
            (map->count - last) * sizeof *map->ranges);
    memcpy(&map->ranges[first], pieces, count * sizeof *pieces);
    map->count += count - (last - first);
    return true;
}

const struct address_range *address_map_find(const struct address_map *map, uint64_t address) {
    size_t at = first_behind(map, address);
    return at < map->count && map->ranges[at].start <= address ? &map->ranges[at] : NULL;
}

struct live_frame address_range_place(const struct address_range *range, uint64_t address) {
    struct live_frame frame = {.place = range->kind, .offset = address};
    if (range->kind == PLACE_FILE)
        frame.file = range->file;
    if (range->kind != PLACE_ANONYMOUS)
        frame.offset = address - range->start + range->offset;
    return frame;
}

bool address_map_copy(struct address_map *to, const struct address_map *from) {
    if (!array_room(to->ranges, to->capacity, from->count))
        return false;
    if (from->count)
        memcpy(to->ranges, from->ranges, from->count * sizeof *to->ranges);
    to->count = from->count;
    to->changes++;
    return true;
}

void address_map_clear(struct address_map *map) {
    map->count = 0;
    map->changes++;
}

void address_map_free(struct address_map *map) {
    free(map->ranges);
    *map = (struct address_map){0};
}
