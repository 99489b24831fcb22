/* What issue keeps: the slots of cycles to come, and the units that µops execute in. How slots are
 * given out: issue.h. Only the files of this folder include this. */
#pragma once

#include "machine/machine.h"

#include <assert.h>

/* What issues in one cycle. Given out in program order, in cycles to come. */
struct issue_slots {
    uint16_t queue[MACHINE_MAX_QUEUES]; /* µops that each queue issues: so many leave it */
    uint64_t taken;                     /* units, by number */
};
static_assert(sizeof(struct issue_slots) == 16, "four to a cache line");

/* Units are numbered over all pools. This one is never taken: as many µops go there as like. */
#define UNLIMITED_UNIT (UINT64_C(1) << 63)
static inline uint64_t take_one(uint64_t free_units) {
    return free_units & -free_units & ~UNLIMITED_UNIT;
}

/* Cycles that are kept apart, from the last dispatch on. What issues later, behind a long chain of
 * misses, takes no slots; it is noted when its cycle comes so near (issue.h). */
enum { SLOT_CYCLES = 1 << 14 };
struct far_issue {
    uint64_t cycle, units;
    uint8_t queue, branch;
};

/* Where µops go, and how long they take. */
struct unit {
    uint32_t latency;  /* cycles from issue to the result; of a load before the L1 */
    uint32_t wake;     /* to the issue of consumers; of a load to the result, if it hits */
    uint32_t interval; /* cycles that a unit is taken */
    uint8_t queue;
    uint8_t operation;     /* enum operation */
    uint16_t queue_issues; /* µops that the queue may issue in a cycle */
    uint16_t alone;        /* of a load with an operation: the row of one without; else 0 */
    uint16_t entries;      /* of a unit's scheduler (schedulers.h); 0: all units have one */
    uint64_t units;        /* that can execute it, by number: the first free one does */
    uint64_t given;        /* units by one of which its scheduler is chosen: these; of a load those
                              that the operation of its instruction has, which waits there, too */
    uint64_t joint;        /* units of which it takes the one beside its own, too */
    uint64_t pool;         /* and the others that have µops by turns with them */
    uint64_t place, full;  /* of `occupancy`: a place of the queue, and set when it is full; of a
                              store whose data have units also those for the data */
    uint64_t second;       /* both in one queue: the place of one; else 0 */
};
