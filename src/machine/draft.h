/* Inside of the machine room: a machine while its keys are being set. Queues and pools are still
 * referred to by name, so that a file may name one before it describes it and a derived machine may
 * replace those of its base; draft_settle turns names into indices. */
#pragma once

#include "machine/key.h"
#include "machine/machine.h"

/* Room for what a base has and its derived machine replaces. */
enum { DRAFT_QUEUES = 2 * MACHINE_MAX_QUEUES, DRAFT_POOLS = 2 * MACHINE_MAX_POOLS };

struct draft {
    struct machine machine; /* all but queues, pools and classes' pools */
    uint32_t queue_count, pool_count;
    struct machine_queue queues[DRAFT_QUEUES]; /* in order of appearance; removed: entries 0 */
    struct machine_pool pools[DRAFT_POOLS];    /* removed: units 0 */
    char pool_queue[DRAFT_POOLS][NAME_SIZE];   /* "": none given */
    char class_pool[OP_COUNT][NAME_SIZE];
};

/* Every key at its standard value, no queues, no pools. */
void draft_init(struct draft *draft);

/* Makes the draft that settles to `machine`. */
void draft_from(struct draft *draft, const struct machine *machine);

/* Sets one key. *field is where the value went, the same for the same key. The error says what is
 * wrong with section, key or value, naming all three. */
bool draft_set(struct draft *draft, const char *section, const char *name, const char *value,
               const void **field, struct error *error);

/* Resolves names, drops removed queues and pools, brings absent caches to standard values. Only
 * its success writes *machine. */
bool draft_settle(const struct draft *draft, struct machine *machine, struct error *error);
