/* Dispatch, in order: a µop enters the reorder buffer, its issue queue and the load or store queue
 * in the first cycle in which all have room. */
#pragma once

#include "core/ooo/loads_stores.h"

/* What holds a µop, and until when. The first of several that end in the same cycle counts. */
struct bound {
    uint64_t cycle;
    enum dispatch_block by;
};

STAGE void bound_by(struct bound *bound, uint64_t cycle, enum dispatch_block by) {
    bound->by = cycle > bound->cycle ? by : bound->by;
    bound->cycle = later(bound->cycle, cycle);
}

/* A register or load queue entry that is held until commit: free when the µop commits that took the
 * one `limit` before. Those that come before any was taken find cycle 0. */
STAGE void bound_by_held(const struct ooo *core, const struct standing *now, struct bound *bound,
                         enum held_kind kind, enum dispatch_block by) {
    bound_by(bound, core->held[kind][(now->held[kind] - core->limits[kind]) & core->mask], by);
}

/* Serialising instructions and fences. */
STAGE void bound_by_order(const struct standing *now, uint32_t flags, struct bound *bound) {
    if (__builtin_expect(now->order_hold <= bound->cycle && !(flags & U_SERIAL), 1))
        return;
    bound_by(bound, now->serial_hold, DISPATCH_SERIALISING);
    if (flags & U_SERIAL)
        bound_by(bound, now->commit, DISPATCH_SERIALISING);
    if (flags & U_LOAD)
        bound_by(bound, now->load_hold, DISPATCH_SERIALISING);
}

/* The cycle in which the µop enters; it takes its place in its queue. False, and nothing is taken:
 * that is not before `end`. */
STAGE bool dispatch_stage(struct ooo *core, struct standing *now, uint64_t at,
                          const struct stream_uop *stream, uint32_t flags, uint64_t end,
                          struct uop_cycles *uop, enum dispatch_block *held) {
    const struct machine_core *machine = &core->machine;
    const uint64_t place = place_of(core, at);
    /* In order, so many a cycle, when it is through the front end, and behind microcode. */
    const uint64_t delivered = later(later(uop->fetch + machine->frontend_depth, now->dispatch),
                                     core->earlier.dispatch[place] + 1);
    struct bound bound = {delivered, DISPATCH_FREE};
    bound_by(&bound, core->earlier.rob[place], DISPATCH_ROB);
    bound_by_order(now, flags, &bound);
    const uint32_t held_flags = flags & core->limited;
    if (held_flags & U_INT_REGISTER)
        bound_by_held(core, now, &bound, HELD_INT, DISPATCH_REGISTERS);
    if (held_flags & (U_FP_REGISTER | U_FLAG_REGISTER)) {
        if (held_flags & U_FP_REGISTER)
            bound_by_held(core, now, &bound, HELD_FP, DISPATCH_REGISTERS);
        if (held_flags & U_FLAG_REGISTER)
            bound_by_held(core, now, &bound, HELD_FLAG, DISPATCH_REGISTERS);
    }
    if (held_flags & U_LOAD_ENTRY)
        bound_by_held(core, now, &bound, HELD_LOAD, DISPATCH_LOAD_QUEUE);
    if (flags & U_STORE && now->stores >= machine->store_queue) {
        const uint64_t oldest = now->stores - machine->store_queue;
        if (oldest >= core->drained && store_at(core, oldest)->commit >= end)
            return false;
        const uint64_t before = bound.cycle;
        bound_by(&bound, release_of(core, oldest), DISPATCH_STORE_QUEUE);
        if (bound.cycle > before && now->commit < bound.cycle) /* meanwhile the ROB was empty */
            uop->psv |= PSV_DR_SQ | (store_at(core, oldest)->coherent ? PSV_ST_CO : 0);
    }
    if (bound.cycle >= end)
        return false;
    leave_until(core, bound.cycle);
    const bool branch = flags & core->limited & U_BRANCH_ENTRY;
    if (branch && core->branches >= core->branches_available)
        bound_by(&bound, wait_for_branches(core, bound.cycle), DISPATCH_BRANCHES);
    const struct unit *unit = unit_of(core, stream);
    const bool queued = !(flags & U_ELIMINATED);
    const uint64_t second = flags & U_STORE ? unit->second : 0;
    if (queued && (core->occupancy + second) & unit->full)
        bound_by(&bound, wait_for_queue(core, bound.cycle, unit), DISPATCH_QUEUE);
    const uint64_t had = core->schedulers.had;
    if (__builtin_expect(queued && unit->entries, 0) &&
        !(flags & U_SHARES && schedulers_follow(&core->schedulers, unit, at)))
        bound_by(&bound, schedulers_give(&core->schedulers, unit, at, bound.cycle), DISPATCH_QUEUE);
    if (bound.cycle >= end) {
        core->schedulers.had = had;
        return false;
    }
    if (queued) {
        core->occupancy += unit->place;
        core->branches += branch;
    }
    uop->dispatch = now->dispatch = bound.cycle;
    if (__builtin_expect(flags & (uint32_t)U_MICROCODED, 0))
        now->dispatch += machine->string_start;
    core->dispatch[place] = bound.cycle;
    *held = bound.by;
    return true;
}
