/* What lies where in the address space of a process, from its mappings in the order in which they
 * were made. A mapping takes the place of what was there before; unmapping is not reported
 * otherwise. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "live/live.h"

struct address_range {
    uint64_t start, end; /* end exclusive */
    uint64_t offset;     /* of PLACE_FILE: in the file, of the first byte */
    enum live_place_kind kind;
    struct live_file_key file; /* of PLACE_FILE */
};

struct address_map {
    struct address_range *ranges; /* disjoint, sorted */
    size_t count, capacity;
    uint32_t changes; /* how often it has changed */
};

/* False: out of memory. An empty range changes nothing. */
bool address_map_add(struct address_map *map, const struct address_range *range);
/* NULL: nothing is known to be there. */
const struct address_range *address_map_find(const struct address_map *map, uint64_t address);
/* The place of an address in the range that it lies in. */
struct live_frame address_range_place(const struct address_range *range, uint64_t address);
bool address_map_copy(struct address_map *to, const struct address_map *from);
void address_map_clear(struct address_map *map);
void address_map_free(struct address_map *map);
