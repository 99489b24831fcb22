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

/* A bit for each entry that is free; the cycle in which the first is, whether it has come or not.
 */
static uint64_t look_for_free(const struct scheduler *scheduler, uint32_t entries, uint64_t cycle,
                              uint64_t *first) {
    uint64_t free = 0, least = UINT64_MAX;
    for (uint32_t i = 0; i < entries; i++) {
        const uint64_t leaves = scheduler->leaves[i];
        free |= (uint64_t)(leaves <= cycle) << i;
        least = leaves < least ? leaves : least;
    }
    *first = least;
    return free;
}

/* NULL: all are taken until cycle `*soonest`. */
static uint64_t *free_entry(struct scheduler *scheduler, uint32_t entries, uint64_t cycle,
                            uint64_t *soonest) {
    if (entries > MOST_ENTRIES)
        return &scheduler->leaves[0];
    if (!scheduler->free)
        scheduler->free = look_for_free(scheduler, entries, cycle, soonest);
    if (!scheduler->free)
        return NULL;
    uint64_t *entry = &scheduler->leaves[__builtin_ctzll(scheduler->free)];
    scheduler->free &= scheduler->free - 1;
    return entry;
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
