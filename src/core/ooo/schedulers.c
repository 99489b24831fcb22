/* See schedulers.h. */
#include "core/ooo/schedulers.h"

#include <string.h>

/* A scheduler is crowded with so many of this many entries taken. */
enum { CROWDED = 2, OF = 3 };

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

static uint32_t scheduler_of(const struct schedulers *schedulers, uint64_t unit) {
    return (uint32_t)__builtin_ctzll(schedulers->beside[__builtin_ctzll(unit)]);
}

static uint32_t count_free(const struct scheduler *scheduler) {
    return (uint32_t)__builtin_popcountll(scheduler->free);
}

static bool is_crowded(struct scheduler *scheduler, uint32_t entries, uint64_t cycle) {
    const uint32_t few = entries - (CROWDED * entries + OF - 1) / OF;
    uint64_t first;
    if (entries > MOST_ENTRIES || count_free(scheduler) > few)
        return false;
    scheduler->free = look_for_free(scheduler, entries, cycle, &first);
    return count_free(scheduler) <= few;
}

/* The first of the units whose scheduler was not crowded when first looked at in this cycle; of
 * all, if each was. */
static uint64_t least_crowded(struct schedulers *schedulers, uint64_t units, uint32_t entries,
                              uint64_t cycle) {
    if (schedulers->looked_in != cycle) {
        schedulers->looked_in = cycle;
        schedulers->crowded = schedulers->looked = 0;
    }
    for (uint64_t left = units & ~schedulers->crowded; left; left &= left - 1) {
        const uint64_t unit = left & -left;
        const uint64_t all = schedulers->beside[__builtin_ctzll(unit)];
        if (!(schedulers->looked & unit) &&
            is_crowded(&schedulers->of[__builtin_ctzll(all)], entries, cycle))
            schedulers->crowded |= all;
        schedulers->looked |= all;
        if (!(schedulers->crowded & unit))
            return unit;
    }
    return units & -units;
}

/* The µop's own, in the scheduler of the one that was chosen. */
static bool take_own(struct schedulers *schedulers, const struct unit *unit, uint64_t chosen) {
    const uint64_t own = unit->units & schedulers->beside[__builtin_ctzll(chosen)];
    schedulers->unit = own ? own & -own : chosen;
    return own;
}

uint64_t schedulers_give(struct schedulers *schedulers, const struct unit *unit, uint64_t number,
                         uint64_t cycle) {
    if (schedulers->empty_at <= cycle)
        schedulers->had = 0;
    const uint64_t left = unit->given & ~schedulers->had;
    uint64_t chosen, *entry, soonest = cycle;
    do {
        cycle = soonest;
        chosen = least_crowded(schedulers, left ? left : unit->given, unit->entries, cycle);
        entry = free_entry(&schedulers->of[scheduler_of(schedulers, chosen)], unit->entries, cycle,
                           &soonest);
    } while (!entry);
    schedulers->had = (left ? schedulers->had : schedulers->had & ~unit->pool) | chosen;
    schedulers->leaves = entry;
    schedulers->awaited = chosen & unit->units ? 0 : number + 1;
    take_own(schedulers, unit, chosen);
    return cycle;
}

bool schedulers_follow(struct schedulers *schedulers, const struct unit *unit, uint64_t number) {
    return schedulers->awaited == number && take_own(schedulers, unit, schedulers->unit);
}

void schedulers_join(struct schedulers *schedulers, uint32_t one, uint32_t other) {
    const uint64_t all = schedulers->beside[one] | schedulers->beside[other];
    for (uint64_t left = all; left; left &= left - 1)
        schedulers->beside[__builtin_ctzll(left)] = all;
}

void schedulers_clear(struct schedulers *schedulers) {
    if (!schedulers->leaves)
        return;
    memset(schedulers->of, 0, sizeof schedulers->of);
    schedulers->had = schedulers->looked_in = schedulers->awaited = schedulers->empty_at = 0;
    schedulers->leaves = NULL;
}
