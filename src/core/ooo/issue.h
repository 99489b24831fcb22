/* Issue: each queue picks its oldest ready µops, up to its width, that have a free unit. In program
 * order: a µop takes the first cycle, from the one in which it is ready, that has a slot of its
 * queue and one of its units left. Of several it takes the one that the fewest other kinds of µops
 * could use; or the one that it was given at dispatch (schedulers.h). A unit that is not
 * pipelined is taken for several cycles; which of like units it is may differ from cycle to cycle.
 *
 * The slots of cycles to come lie in a ring. A cycle is over when a µop dispatches in it or later:
 * what issued in it has left its queue. That is looked at when a queue seems full, and often enough
 * that the slots are free for a cycle far ahead. */
#pragma once

#include "core/ooo/cycle_bits.h"
#include "core/ooo/ooo.h"

/* So many cycles at most are over and not swept, and so far ahead are slots given out. */
enum { SWEEP_CYCLES = 256, AHEAD_CYCLES = SLOT_CYCLES - 2 * SWEEP_CYCLES };

static inline struct issue_slots *slots_at(struct ooo *core, uint64_t cycle) {
    return &core->slots[cycle % SLOT_CYCLES];
}

static inline void mark_slots(struct ooo *core, uint64_t cycle) {
    cycle_bits_mark(core->slot_bits, SLOT_CYCLES, cycle);
}

/* What issued in the cycles that are over has left: `occupancy` and `branches` are exact
 * (issue.c). */
void sweep(struct ooo *core);
/* The next one: soon, and when a far issue comes within half a ring. */
void plan_sweep(struct ooo *core);

/* All cycles up to this one are over, all slots free, all queues empty (issue.c). */
void clear_slots(struct ooo *core, uint64_t cycle);

/* All cycles up to this one are over. */
STAGE void leave_until(struct ooo *core, uint64_t cycle) {
    core->left = later(core->left, cycle);
    if (__builtin_expect(core->left >= core->sweep_at, 0))
        sweep(core);
}

/* The first cycle from this one on in which an entry of the µop's issue queue is free, or one for
 * each half of a store: µops leave when they issue, out of order (issue.c). */
uint64_t wait_for_queue(struct ooo *core, uint64_t cycle, const struct unit *unit);

/* The same for one more unresolved branch: they leave when they execute. */
uint64_t wait_for_branches(struct ooo *core, uint64_t cycle);

/* Takes a unit that is not pipelined, or issues beyond the ring, which takes no slots until it
 * comes near (issue.c). */
uint64_t take_slots(struct ooo *core, const struct unit *unit, bool branch, uint64_t ready);

/* The first cycle from `ready` on in which the µop can issue, its slot and one of these units
 * taken. */
STAGE uint64_t take_slot(struct ooo *core, const struct unit *unit, uint64_t units, uint32_t flags,
                         uint64_t ready) {
    const bool branch = flags & core->limited & U_BRANCH_ENTRY; /* one more resolves */
    const uint64_t end = core->left + AHEAD_CYCLES;
    uint64_t cycle = ready;
    if (__builtin_expect((flags & U_LONG) != 0, 0))
        return take_slots(core, unit, branch, ready);
    for (;; cycle++) {
        struct issue_slots *slots = slots_at(core, cycle);
        if (__builtin_expect(cycle >= end, 0))
            return take_slots(core, unit, branch, cycle);
        const uint64_t free_units = units & ~slots->taken;
        if (slots->queue[unit->queue] >= unit->queue_issues || !free_units)
            continue;
        slots->queue[unit->queue]++;
        slots->taken |= take_one(free_units);
        mark_slots(core, cycle);
        if (branch)
            core->branch_slots[cycle % SLOT_CYCLES]++;
        return cycle;
    }
}

/* Likewise, of this unit, which returns one result a cycle or is taken with one beside (issue.c).
 */
uint64_t take_jointly(struct ooo *core, const struct unit *unit, uint64_t own, uint64_t ready);

/* Likewise, to the unit that it was given at dispatch, if it was. */
STAGE uint64_t take_own_slot(struct ooo *core, const struct unit *unit, uint32_t flags,
                             uint64_t ready) {
    if (__builtin_expect(!unit->entries, 1))
        return take_slot(core, unit, unit->units, flags, ready);
    const uint64_t own = core->schedulers.unit;
    const bool jointly = own & core->result_bus || unit->joint;
    return schedulers_leave(&core->schedulers, jointly ? take_jointly(core, unit, own, ready)
                                                       : take_slot(core, unit, own, flags, ready));
}

/* A µop that has left its queue goes to a unit again: the first cycle from this one on with a free
 * one. */
static inline uint64_t take_unit(struct ooo *core, const struct unit *unit, uint64_t cycle) {
    const uint64_t first = later(cycle, core->left + 1), end = core->left + AHEAD_CYCLES;
    for (uint64_t at = first; at < end; at++) {
        const uint64_t free_units = unit->units & ~slots_at(core, at)->taken;
        if (free_units) {
            slots_at(core, at)->taken |= take_one(free_units);
            mark_slots(core, at);
            return at;
        }
    }
    return cycle;
}
