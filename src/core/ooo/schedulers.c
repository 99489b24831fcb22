/* See schedulers.h. */
#include "core/ooo/ooo.h"

#include <string.h>

#include "util/array.h"

/* A scheduler is crowded with so many of this many entries taken. */
enum { CROWDED = 2, OF = 3 };

/* Of the first bit that is set. */
static uint32_t number_of(uint64_t bits) {
    return (uint32_t)__builtin_ctzll(bits);
}

/* ---- those that leave ---- */

void schedulers_leave_late(struct schedulers *schedulers, uint64_t cycle) {
    const uint64_t due = cycle - NEAR_CYCLES / 2;
    assert(schedulers->late_count < sizeof schedulers->late / sizeof *schedulers->late);
    schedulers->late[schedulers->late_count++] = (struct late_leave){cycle, schedulers->given};
    if (due < schedulers->late_due)
        schedulers->late_due = due;
}

/* Those of the late that have come near. */
static void refile_late(struct schedulers *schedulers) {
    uint32_t kept = 0;
    uint64_t earliest = UINT64_MAX;
    for (uint32_t i = 0; i < schedulers->late_count; i++) {
        const struct late_leave late = schedulers->late[i];
        if (late.cycle - schedulers->cycle < NEAR_CYCLES) {
            schedulers_leave_near(schedulers, late.cycle, late.scheduler);
        } else {
            schedulers->late[kept++] = late;
            earliest = late.cycle < earliest ? late.cycle : earliest;
        }
    }
    schedulers->late_count = kept;
    schedulers->late_due = kept ? earliest - NEAR_CYCLES / 2 : UINT64_MAX;
}

static bool any(scheduler_counts counts) {
    uint64_t words[sizeof counts / sizeof(uint64_t)];
    memcpy(words, &counts, sizeof words);
    return any_where(i, sizeof words / sizeof *words, words[i]);
}

/* What leaves until this cycle, which is near. Returns how many wait. */
static scheduler_counts leave_until(struct schedulers *schedulers, uint64_t cycle,
                                    scheduler_counts waiting) {
    for (uint64_t at = schedulers->cycle + 1; at <= cycle; at = (at | 63) + 1) {
        const uint64_t start = at & ~UINT64_C(63);
        uint64_t over = cycle_bits_take(schedulers->leaves, NEAR_CYCLES, at, cycle);
        for (; over; over &= over - 1) {
            scheduler_counts *leaving =
                &schedulers->leaving[(start + number_of(over)) % NEAR_CYCLES];
            waiting -= *leaving;
            *leaving = (scheduler_counts){0};
        }
    }
    schedulers->cycle = cycle;
    return waiting;
}

/* The units of crowded schedulers. There is seldom one. */
static uint64_t crowded_units(const struct schedulers *schedulers, scheduler_counts waiting) {
    const scheduler_counts crowded = (scheduler_counts)(waiting >= schedulers->crowd);
    uint64_t units = 0;
    for (uint32_t i = 0; any(crowded) && i < MACHINE_MAX_SCHEDULERS; i++)
        units |= crowded[i] ? schedulers->units[i] : 0;
    return units;
}

/* What leaves until this cycle, which nobody has looked at, has left. */
static void go_to(struct schedulers *schedulers, uint64_t cycle) {
    scheduler_counts waiting = schedulers->waiting;
    while (schedulers->cycle < cycle && any(waiting)) {
        const uint64_t near = lesser(cycle, schedulers->cycle + NEAR_CYCLES - 1);
        waiting = leave_until(schedulers, lesser(near, schedulers->late_due), waiting);
        if (schedulers->cycle == schedulers->late_due)
            refile_late(schedulers);
    }
    schedulers->cycle = cycle;
    schedulers->waiting = waiting;
    schedulers->crowded = crowded_units(schedulers, waiting);
}

/* The next cycle in which some may leave, or late ones have come near. */
static uint64_t next_change(const struct schedulers *schedulers) {
    const uint64_t end = schedulers->cycle + NEAR_CYCLES;
    for (uint64_t at = schedulers->cycle + 1; at < end; at = (at | 63) + 1) {
        const uint64_t next = cycle_bits_next(schedulers->leaves, NEAR_CYCLES, at);
        if (next != UNKNOWN)
            return lesser(next, schedulers->late_due);
    }
    return schedulers->late_due;
}

/* ---- a unit for each ---- */

/* The first of the units whose scheduler is not crowded; of all, if each is. */
static uint64_t least_crowded(const struct schedulers *schedulers, uint64_t units) {
    const uint64_t others = units & ~schedulers->crowded, choice = others ? others : units;
    return choice & -choice;
}

/* The µop's own, in the scheduler of the one that was chosen. */
static bool take_own(struct schedulers *schedulers, const struct unit *unit, uint64_t chosen) {
    const uint64_t own = unit->units & schedulers->beside[number_of(chosen)];
    schedulers->unit = own ? own & -own : chosen;
    return own;
}

static bool is_full(const struct schedulers *schedulers, uint32_t scheduler) {
    return schedulers->counted && schedulers->waiting[scheduler] >= schedulers->entries[scheduler];
}

uint64_t schedulers_give(struct schedulers *schedulers, const struct unit *unit, uint64_t number,
                         uint64_t cycle) {
    if (schedulers->empty_at <= cycle)
        schedulers->had = 0;
    if (schedulers->cycle < cycle)
        go_to(schedulers, cycle);
    const uint64_t left = unit->given & ~schedulers->had, units = left ? left : unit->given;
    uint64_t chosen = least_crowded(schedulers, units);
    while (is_full(schedulers, schedulers->of[number_of(chosen)])) {
        do
            go_to(schedulers, next_change(schedulers));
        while (is_full(schedulers, schedulers->of[number_of(chosen)]));
        chosen = least_crowded(schedulers, units);
    }
    const uint64_t over = unit->pool & -(uint64_t)!left; /* whose turns begin anew */
    schedulers->had = (schedulers->had & ~over) | chosen;
    schedulers->given = schedulers->of[number_of(chosen)];
    schedulers->awaited = chosen & unit->units ? 0 : number + 1;
    take_own(schedulers, unit, chosen);
    return schedulers->cycle; /* also where the µop has waited here before, to come back */
}

/* The entry that the load was to leave is its operation's. */
bool schedulers_follow(struct schedulers *schedulers, const struct unit *unit, uint64_t number) {
    if (schedulers->awaited != number || !take_own(schedulers, unit, schedulers->unit))
        return false;
    if (!schedulers->counted)
        return true;
    schedulers->waiting -= schedulers->one[schedulers->given];
    if (schedulers->left_at - schedulers->cycle < NEAR_CYCLES)
        schedulers->leaving[schedulers->left_at % NEAR_CYCLES] -=
            schedulers->one[schedulers->given];
    else
        schedulers->late_count--;
    return true;
}

/* ---- all of them ---- */

void schedulers_join(struct schedulers *schedulers, uint32_t one, uint32_t other) {
    const uint64_t all = schedulers->beside[one] | schedulers->beside[other];
    for (uint64_t left = all; left; left &= left - 1)
        schedulers->beside[number_of(left)] = all;
}

void schedulers_number(struct schedulers *schedulers, const uint32_t *entries) {
    uint32_t count = 0;
    schedulers->counted = true;
    schedulers->late_due = UINT64_MAX;
    memset(&schedulers->crowd, UINT8_MAX, sizeof schedulers->crowd); /* none that there is not */
    for (uint32_t unit = 0; unit <= MACHINE_MAX_UNITS; unit++) {
        if (!entries[unit])
            continue;
        const uint32_t first = number_of(schedulers->beside[unit]);
        assert(first < unit || count < MACHINE_MAX_SCHEDULERS);
        const uint8_t number = first < unit ? schedulers->of[first] : (uint8_t)count++;
        schedulers->of[unit] = number;
        schedulers->units[number] = schedulers->beside[unit];
        schedulers->one[number][number] = 1;
        schedulers->counted &= entries[unit] <= MOST_ENTRIES;
        const uint32_t most = entries[unit] < MOST_ENTRIES ? entries[unit] : MOST_ENTRIES;
        schedulers->entries[number] = (uint8_t)most;
        schedulers->crowd[number] = (uint8_t)((CROWDED * most + OF - 1) / OF);
    }
}

void schedulers_clear(struct schedulers *schedulers) {
    if (!schedulers->empty_at)
        return;
    memset(schedulers->leaving, 0, sizeof schedulers->leaving);
    memset(schedulers->leaves, 0, sizeof schedulers->leaves);
    schedulers->waiting = (scheduler_counts){0};
    schedulers->late_count = 0;
    schedulers->late_due = UINT64_MAX;
    schedulers->crowded = 0;
    schedulers->cycle = schedulers->had = schedulers->awaited = schedulers->empty_at = 0;
}
