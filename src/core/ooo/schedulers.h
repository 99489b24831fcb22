/* Schedulers of one unit each, and of its neighbours (queue.NAME.unit_entries, pool.NAME.beside): a
 * µop is given its unit when it dispatches, and waits for that one, though others may be free when
 * its operands are there.
 *
 * The units of a pool are given by turns: each has one µop before any has its second. Where all
 * that can execute the µop have had theirs, new turns begin with it, as they do when all schedulers
 * are empty. Of those that are left one whose scheduler is not crowded goes first, and of these the
 * first by number. Where its scheduler is full, dispatch waits until an entry is free. A load
 * chooses by the units of its instruction's operation, which waits in the same entry. What
 * hand-made chains and loops show of Zen 3: docs/results/schedulers.md.
 *
 * Which µops wait where is not kept, only how many, and how many leave in which cycle. */
#pragma once

#include "core/ooo/cycle_bits.h"
#include "core/ooo/issue_slots.h"

#include <stdbool.h>

enum {
    MOST_ENTRIES = 64, /* beyond nothing is counted: none is ever crowded or full */
    NEAR_CYCLES = 256  /* for which it is known how many leave in each */
};

/* A number for each scheduler. */
typedef uint8_t scheduler_counts __attribute__((vector_size(MACHINE_MAX_SCHEDULERS)));

/* A µop that leaves in a cycle which is not near. */
struct late_leave {
    uint64_t cycle;
    uint32_t scheduler;
};

struct schedulers {
    uint64_t beside[MACHINE_MAX_UNITS + 1];       /* by unit: all units of its scheduler */
    uint8_t of[MACHINE_MAX_UNITS + 1];            /* by unit: its scheduler, by number */
    uint64_t units[MACHINE_MAX_SCHEDULERS];       /* of each */
    scheduler_counts entries, crowd;              /* that one has; with which it is crowded */
    bool counted;                                 /* it is counted */
    scheduler_counts one[MACHINE_MAX_SCHEDULERS]; /* 1 of the scheduler, 0 of others: counts are
                                                     changed as they are read, all at once, since a
                                                     read of many bytes waits for a write of one */

    uint64_t cycle;                        /* all below is at its end */
    scheduler_counts waiting;              /* µops in each */
    uint64_t crowded;                      /* units whose scheduler is: as it was when a µop came
                                              first in this cycle */
    scheduler_counts leaving[NEAR_CYCLES]; /* by cycle, of those behind */
    uint64_t leaves[NEAR_CYCLES / 64];     /* set: some may leave in that cycle */
    struct late_leave late[MACHINE_MAX_SCHEDULERS * MOST_ENTRIES];
    uint32_t late_count;
    uint64_t late_due; /* the cycle in which the first of them has come near enough */

    uint64_t had;      /* units that have had their µop of these turns */
    uint64_t empty_at; /* all are from this cycle on, until a µop is given one; 0: none was given
                          since the clearing */
    uint64_t unit;     /* the µop's that dispatches */
    uint64_t awaited;  /* the µop, by number, that waits with the load before it */
    uint64_t left_at;  /* the cycle in which the last one leaves */
    uint32_t given;    /* its scheduler */
};

/* These units have one scheduler; before schedulers_number(). */
void schedulers_join(struct schedulers *schedulers, uint32_t one, uint32_t other);
/* Each unit has a scheduler of its own and its neighbours', of so many entries; 0: it has none. */
void schedulers_number(struct schedulers *schedulers, const uint32_t *entries);

/* The cycle from this one on in which µop `number` enters a scheduler; `unit` is its own then. No
 * cycle is before that of the µop before. */
uint64_t schedulers_give(struct schedulers *schedulers, const struct unit *unit, uint64_t number,
                         uint64_t cycle);

/* µop `number`, the operation of the load before it, waits in its entry. False: it has no unit
 * there, or the load had no entry. */
bool schedulers_follow(struct schedulers *schedulers, const struct unit *unit, uint64_t number);

/* One of this scheduler leaves in a cycle that is near. */
static inline void schedulers_leave_near(struct schedulers *schedulers, uint64_t cycle,
                                         uint32_t scheduler) {
    schedulers->leaving[cycle % NEAR_CYCLES] += schedulers->one[scheduler];
    cycle_bits_mark(schedulers->leaves, NEAR_CYCLES, cycle);
}

/* Of one that leaves in a cycle which is not near (schedulers.c). */
void schedulers_leave_late(struct schedulers *schedulers, uint64_t cycle);

/* The µop, which was given a unit or follows, leaves its scheduler in this cycle. */
static inline uint64_t schedulers_leave(struct schedulers *schedulers, uint64_t cycle) {
    if (schedulers->empty_at < cycle)
        schedulers->empty_at = cycle;
    if (!schedulers->counted)
        return cycle;
    schedulers->left_at = cycle;
    schedulers->waiting += schedulers->one[schedulers->given];
    if (cycle - schedulers->cycle < NEAR_CYCLES)
        schedulers_leave_near(schedulers, cycle, schedulers->given);
    else
        schedulers_leave_late(schedulers, cycle);
    return cycle;
}

/* All are empty, and no turns have begun. */
void schedulers_clear(struct schedulers *schedulers);
