/* Schedulers that feed one unit each (queue.NAME.unit_entries): a µop is given its unit when it
 * dispatches, and waits for that one, though others may be free when its operands are there. It is
 * given the one of its units that was given the fewest µops in this cycle, so that what dispatches
 * together is spread evenly; nothing before counts. Where that one's scheduler is full, dispatch
 * waits until an entry is free. What hand-made chains show of Zen 3: docs/results/schedulers.md. */
#pragma once

#include <stdint.h>

/* Beyond MOST_GIVEN in a cycle, and MOST_ENTRIES, nothing is counted. */
enum { MOST_GIVEN = 16, MOST_ENTRIES = 64, MOST_SCHEDULERS = 64 };

struct scheduler {
    uint64_t leaves[MOST_ENTRIES]; /* by entry: the cycle in which its µop issues */
    uint64_t free; /* a bit for each entry that was when last looked at, and since */
};
struct schedulers {
    uint64_t given[MOST_GIVEN]; /* units that were given so many µops, or one more ... */
    uint64_t given_in;          /* ... in this cycle */
    uint64_t unit;              /* the µop's that dispatches */
    uint64_t *leaves;           /* its entry; NULL: nothing was given since the clearing */
    struct scheduler of[MOST_SCHEDULERS]; /* by unit */
};

/* The cycle from this one on in which a µop for one of these units enters a scheduler of so many
 * entries; `unit` and `leaves` are its own then. */
uint64_t schedulers_give(struct schedulers *schedulers, uint64_t units, uint32_t entries,
                         uint64_t cycle);

/* All are empty, and no cycle has begun. */
void schedulers_clear(struct schedulers *schedulers);
