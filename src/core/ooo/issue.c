/* What issue does seldom: it sweeps the cycles that are over, waits for a queue that is full, takes
 * a unit that one beside is taken with or that returns one result a cycle, or that is taken for
 * several cycles, and keeps those issues apart that the ring of slots does not reach: behind long
 * chains of misses, where there is no press of µops. They take their slots when they come near. */
#include "core/ooo/issue.h"

#include <string.h>

#include "util/array.h"

/* ---- beyond the ring ---- */

void plan_sweep(struct ooo *core) {
    const uint64_t near = later(core->far_earliest, SLOT_CYCLES / 2) - SLOT_CYCLES / 2 + 1;
    core->sweep_at = lesser(core->swept + SWEEP_CYCLES, near);
}

static void issue_far(struct ooo *core, uint64_t cycle, const struct unit *unit, bool branch) {
    if (core->far_count == core->far_capacity)
        return; /* cannot be: it holds as many as may be in flight */
    core->far[core->far_count++] = (struct far_issue){cycle, unit->units, unit->queue, branch};
    core->far_earliest = lesser(core->far_earliest, cycle);
    plan_sweep(core);
}

/* Those whose cycle has come near take their slots. */
static void refile_far(struct ooo *core) {
    uint32_t kept = 0;
    core->far_earliest = UNKNOWN;
    for (uint32_t i = 0; i < core->far_count; i++) {
        const struct far_issue far = core->far[i];
        if (far.cycle <= core->left) { /* dispatch has gone on past it at a bound */
            core->occupancy -= UINT64_C(1) << 16 * far.queue;
            core->branches -= far.branch;
        } else if (far.cycle < core->left + AHEAD_CYCLES) {
            struct issue_slots *slots = slots_at(core, far.cycle);
            slots->queue[far.queue]++;
            slots->taken |= take_one(far.units & ~slots->taken);
            mark_slots(core, far.cycle);
            if (core->branch_slots)
                core->branch_slots[far.cycle % SLOT_CYCLES] += far.branch;
        } else {
            core->far[kept++] = far;
            core->far_earliest = lesser(core->far_earliest, far.cycle);
        }
    }
    core->far_count = kept;
}

/* ---- cycles that are over ---- */

/* The cycle is over: what issued in it has left. */
static void leave(struct ooo *core, uint64_t cycle) {
    struct issue_slots *slots = slots_at(core, cycle);
    uint64_t left;
    memcpy(&left, slots->queue, sizeof left);
    core->occupancy -= left;
    *slots = (struct issue_slots){.queue = {0}};
    if (core->branch_slots) {
        core->branches -= core->branch_slots[cycle % SLOT_CYCLES];
        core->branch_slots[cycle % SLOT_CYCLES] = 0;
    }
}

void sweep(struct ooo *core) {
    for (uint64_t at = core->swept + 1; at <= core->left; at = (at | 63) + 1) {
        uint64_t over = cycle_bits_take(core->slot_bits, SLOT_CYCLES, at, core->left);
        for (; over; over &= over - 1)
            leave(core, (at & ~UINT64_C(63)) + (uint32_t)__builtin_ctzll(over));
    }
    core->swept = core->left;
    if (core->far_earliest < core->left + SLOT_CYCLES / 2)
        refile_far(core);
    plan_sweep(core);
}

/* The next cycle in which something issues and so may leave; or one before it. */
static uint64_t next_issue(const struct ooo *core, uint64_t after) {
    return lesser(cycle_bits_next(core->slot_bits, SLOT_CYCLES, after + 1), (after + 1) | 63);
}

static uint64_t sweep_until(struct ooo *core, uint64_t cycle) {
    core->left = cycle;
    sweep(core);
    return cycle;
}

uint64_t wait_for_queue(struct ooo *core, uint64_t cycle, const struct unit *unit) {
    sweep_until(core, cycle);
    while ((core->occupancy + unit->second) & unit->full)
        cycle = sweep_until(core, next_issue(core, cycle));
    return cycle;
}

uint64_t wait_for_branches(struct ooo *core, uint64_t cycle) {
    sweep_until(core, cycle);
    while (core->branches >= core->branches_available)
        cycle = sweep_until(core, next_issue(core, cycle));
    return cycle;
}

void clear_slots(struct ooo *core, uint64_t cycle) {
    for (uint32_t word = 0; word < SLOT_CYCLES / 64; word++) {
        for (uint64_t left = core->slot_bits[word]; left; left &= left - 1) {
            const uint32_t at = word * 64 + (uint32_t)__builtin_ctzll(left);
            core->slots[at] = (struct issue_slots){.queue = {0}};
            if (core->branch_slots)
                core->branch_slots[at] = 0;
        }
        core->slot_bits[word] = 0;
    }
    schedulers_clear(&core->schedulers);
    core->left = core->swept = later(core->left, cycle);
    core->occupancy = core->no_occupancy;
    core->branches = core->far_count = 0;
    core->far_earliest = UNKNOWN;
    plan_sweep(core);
}

/* ---- with one beside, or one result a cycle ---- */

/* Of a result the unit that returns it is taken, in bits of their own. */
enum { RESULT_BITS = 32 };

uint64_t take_jointly(struct ooo *core, const struct unit *unit, uint64_t own, uint64_t ready) {
    const uint64_t end = core->left + AHEAD_CYCLES - unit->latency;
    const uint64_t beside = core->schedulers.beside[__builtin_ctzll(own)];
    const uint64_t units = own | (beside & unit->joint);
    const uint64_t result = (own & core->result_bus) << RESULT_BITS;
    const uint32_t after = unit->latency ? unit->latency - 1 : 0;
    for (uint64_t cycle = ready; cycle < end; cycle++) {
        struct issue_slots *slots = slots_at(core, cycle), *last = slots_at(core, cycle + after);
        if (slots->queue[unit->queue] >= unit->queue_issues || slots->taken & units ||
            last->taken & result)
            continue;
        slots->queue[unit->queue]++;
        slots->taken |= units;
        last->taken |= result;
        mark_slots(core, cycle);
        mark_slots(core, cycle + after);
        return cycle;
    }
    return take_slots(core, unit, false, later(ready, end));
}

/* ---- several cycles ---- */

static bool unit_is_free(struct ooo *core, uint64_t cycle, const struct unit *unit) {
    return all_where(k, unit->interval, unit->units & ~slots_at(core, cycle + k)->taken);
}

uint64_t take_slots(struct ooo *core, const struct unit *unit, bool branch, uint64_t ready) {
    const uint64_t end = core->left + AHEAD_CYCLES - unit->interval;
    for (uint64_t cycle = ready; cycle < end; cycle++) {
        if (slots_at(core, cycle)->queue[unit->queue] >= unit->queue_issues ||
            !unit_is_free(core, cycle, unit))
            continue;
        slots_at(core, cycle)->queue[unit->queue]++;
        for (uint32_t k = 0; k < unit->interval; k++) {
            struct issue_slots *slots = slots_at(core, cycle + k);
            slots->taken |= take_one(unit->units & ~slots->taken);
            mark_slots(core, cycle + k);
        }
        if (branch)
            core->branch_slots[cycle % SLOT_CYCLES]++;
        return cycle;
    }
    issue_far(core, later(ready, end), unit, branch);
    return later(ready, end);
}
