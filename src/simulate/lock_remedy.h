/* Locks that cost less than they do, to simulate what that would save.
 *
 *     open   nobody waits for it: all who want the lock have it at once. What they do with it takes
 *            its time, and so do lines that move with it
 *     gone   nor do the routines that lock and unlock take any time, or touch memory: as if the
 *            program did without. A wait for a condition still waits for its signal
 *
 * Locks are those that lock_entries.h knows. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lock_remedy {
    uint64_t address; /* of its word */
    uint32_t process;
};

struct lock_remedies {
    bool all_open, all_gone;
    struct lock_remedy *open; /* the caller's, by process and address: lock_remedies_sort() */
    size_t open_count;
};

/* Once they are there. */
void lock_remedies_sort(struct lock_remedies *remedies);

/* `remedies` NULL: none is. */
bool lock_remedies_open(const struct lock_remedies *remedies, uint32_t process, uint64_t address);
