/* How many samples there are of each (slice, place, offset, event): one flat table of bounded
 * size. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sample_entry {
    uint64_t offset;
    uint64_t count; /* 0: the slot is free */
    uint32_t slice; /* a number of the owner's */
    uint32_t place; /* likewise */
    uint32_t event;
    uint32_t reserved; /* 0 */
};
_Static_assert(sizeof(struct sample_entry) == 32, "two to a cache line");

struct sample_table {
    struct sample_entry *slots;
    size_t capacity; /* a power of 2 */
    size_t count, most;
};

/* Room for `most` entries; memory that is not used yet is not touched. */
bool sample_table_init(struct sample_table *table, size_t most);
void sample_table_free(struct sample_table *table);
/* Forgets all entries. */
void sample_table_clear(struct sample_table *table);

/* Adds entry->count. False: it is a new entry and there is no room. */
bool sample_table_add(struct sample_table *table, const struct sample_entry *entry);
