/* See schedulers.h. */
#include "core/ooo/schedulers.h"

#include <string.h>

static void begin_cycle(struct schedulers *schedulers, uint64_t cycle) {
    if (schedulers->given_in == cycle)
        return;
    schedulers->given_in = cycle;
    memset(schedulers->given, 0, sizeof schedulers->given);
}

/* How many the units were given in the cycle, those that were given the fewest. */
static uint32_t fewest(const struct schedulers *schedulers, uint64_t units) {
    uint32_t count = 0;
    while (count + 1 < MOST_GIVEN && !(units & ~schedulers->given[count]))
        count++;
    return count;
}

/* NULL: all are taken until cycle `*soonest`. */
static uint64_t *free_entry(struct scheduler *scheduler, uint32_t entries, uint64_t cycle,
                            uint64_t *soonest) {
    *soonest = UINT64_MAX;
    if (entries > MOST_ENTRIES)
        return &scheduler->leaves[0];
    for (uint32_t i = 0, at = scheduler->next; i < entries; i++, at++) {
        at = at < entries ? at : 0;
        if (scheduler->leaves[at] <= cycle) {
            scheduler->next = at + 1;
            return &scheduler->leaves[at];
        }
        *soonest = scheduler->leaves[at] < *soonest ? scheduler->leaves[at] : *soonest;
    }
    return NULL;
}

uint64_t schedulers_give(struct schedulers *schedulers, uint64_t units, uint32_t entries,
                         uint64_t cycle) {
    uint64_t unit, *entry, soonest = cycle;
    uint32_t count;
    do {
        cycle = soonest;
        begin_cycle(schedulers, cycle);
        count = fewest(schedulers, units);
        unit = units & ~schedulers->given[count];
        unit = unit ? unit & -unit : units & -units;
        entry = free_entry(&schedulers->of[__builtin_ctzll(unit)], entries, cycle, &soonest);
    } while (!entry);
    schedulers->given[count] |= unit;
    schedulers->unit = unit;
    schedulers->leaves = entry;
    return cycle;
}

void schedulers_clear(struct schedulers *schedulers) {
    if (schedulers->leaves)
        memset(schedulers, 0, sizeof *schedulers);
}
