/* Inside of this room: what is mapped where in a process. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A mapping. */
struct range {
    uint64_t start, end;
    uint32_t object;
    bool heap; /* that brk() makes */
};

struct memory_ranges {
    struct range *items; /* by start, without overlap; for free() */
    size_t count, capacity;
};

/* How many begin at the address or before. */
size_t memory_ranges_before(const struct memory_ranges *ranges, uint64_t address);
/* NULL: nothing is mapped there. */
const struct range *memory_ranges_at(const struct memory_ranges *ranges, uint64_t address);

/* In place of what is mapped there; beyond so many nothing is known of it. False: out of memory. */
bool memory_ranges_map(struct memory_ranges *ranges, struct range range);
/* Nothing is mapped in [start, end) any more. Likewise. */
bool memory_ranges_clear(struct memory_ranges *ranges, uint64_t start, uint64_t end);
void memory_ranges_drop_heap(struct memory_ranges *ranges);
/* All that others hold, into none. Likewise. */
bool memory_ranges_copy(struct memory_ranges *ranges, const struct memory_ranges *from);
