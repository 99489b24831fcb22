/* Schedulers of one unit each, and of its neighbours (queue.NAME.unit_entries, pool.NAME.beside): a
 * µop is given its unit when it dispatches, and waits for that one, though others may be free when
 * its operands are there.
 *
 * The units of a pool are given by turns: each has one µop before any has its second. Where all
 * that can execute the µop have had theirs, new turns begin with it, as they do when all schedulers
 * are empty. Of those that are left one whose scheduler is not crowded goes first, and of these the
 * first by number. Where its scheduler is full, dispatch waits until an entry is free. A load
 * chooses by the units of its instruction's operation, which waits in the same entry. What
 * hand-made chains and loops show of Zen 3: docs/results/schedulers.md. */
#pragma once

#include "core/ooo/issue_slots.h"

#include <stdbool.h>

/* Beyond MOST_ENTRIES nothing is counted. */
enum { MOST_ENTRIES = 64, MOST_SCHEDULERS = 64 };

struct scheduler {
    uint64_t leaves[MOST_ENTRIES]; /* by entry: the cycle in which its µop issues */
    uint64_t free; /* a bit for each entry that was when last looked at, and since */
};
struct schedulers {
    uint64_t beside[MOST_SCHEDULERS]; /* by unit: all units of its scheduler, the first of which
                                         numbers that */
    uint64_t had;                     /* units that have had their µop of these turns */
    uint64_t crowded, looked;         /* units whose scheduler was; that were looked at ... */
    uint64_t looked_in;               /* ... in this cycle */
    uint64_t empty_at;                /* all are from this cycle on, until a µop is given one */
    uint64_t awaited;                 /* the µop, by number, that waits with the load before it */
    uint64_t unit;                    /* the µop's that dispatches */
    uint64_t *leaves;                 /* its entry; NULL: nothing was given since the clearing */
    struct scheduler of[MOST_SCHEDULERS];
};

/* These units have one scheduler. */
void schedulers_join(struct schedulers *schedulers, uint32_t one, uint32_t other);

/* The cycle from this one on in which µop `number` enters a scheduler; `unit` and `leaves` are its
 * own then. */
uint64_t schedulers_give(struct schedulers *schedulers, const struct unit *unit, uint64_t number,
                         uint64_t cycle);

/* µop `number`, the operation of the load before it, waits in its entry. False: it has no unit
 * there, or the load had no entry. */
bool schedulers_follow(struct schedulers *schedulers, const struct unit *unit, uint64_t number);

/* The µop leaves its scheduler. */
static inline uint64_t schedulers_leave(struct schedulers *schedulers, uint64_t cycle) {
    if (schedulers->empty_at < cycle)
        schedulers->empty_at = cycle;
    return *schedulers->leaves = cycle;
}

/* All are empty, and no turns have begun. */
void schedulers_clear(struct schedulers *schedulers);
