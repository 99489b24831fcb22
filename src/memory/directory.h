/* Inside the memory room: which cores have which lines. An entry may be stale: a core that evicts a
 * line does not say so, unless the line is dirty. So whoever needs to know looks into the caches of
 * the cores that an entry names.
 *
 * Set-associative, least recently used entry first; entries of lines that no core has any more go
 * before all others. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ENTRY_VALID = 1 << 0,
    ENTRY_OWNED = 1 << 1, /* its one holder may write it: E or M of MESI */
    DIRECTORY_WAYS = 16
};
struct directory_entry {
    uint64_t line;    /* address | ENTRY_*; 0: empty */
    uint64_t holders; /* bit per core */
    uint64_t free;    /* cycle in which the last transfer of the line is over */
    uint64_t used;
};

struct directory {
    struct directory_entry *entries; /* set × DIRECTORY_WAYS + way */
    uint64_t sets;                   /* a power of two */
    uint64_t uses;
    uint32_t line_shift;
};

/* Room for so many entries at least. False: out of memory. */
bool directory_new(struct directory *directory, uint64_t entries, uint32_t line_shift);
void directory_free(struct directory *directory);

/* The entry of a line; NULL: it has none. */
struct directory_entry *directory_find(struct directory *directory, uint64_t line);

/* The set that the line's entry would be in: DIRECTORY_WAYS of them. */
struct directory_entry *directory_set(const struct directory *directory, uint64_t line);
static inline void directory_use(struct directory *directory, struct directory_entry *entry) {
    entry->used = ++directory->uses;
}
static inline uint64_t entry_line(const struct directory_entry *entry) {
    return entry->line & ~(uint64_t)(ENTRY_VALID | ENTRY_OWNED);
}
