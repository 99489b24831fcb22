/* Issue: each queue picks its oldest ready µops, up to its width, whose pool has a free unit. In
 * program order: a µop takes the first cycle, from the one in which it is ready, that has a slot of
 * its queue and a unit of its pool left. A unit that is not pipelined is taken for several cycles.
 *
 * The slots of cycles to come lie in a ring. A cycle is over when a µop dispatches in it or later:
 * what issued in it has left its queue, and its slots are free for a cycle far ahead. */
#pragma once

#include "core/ooo/ooo.h"

#include <string.h>

static inline struct issue_slots *slots_at(struct ooo *core, uint64_t cycle) {
    return &core->slots[cycle % SLOT_CYCLES];
}

static inline void mark_slots(struct ooo *core, uint64_t cycle) {
    core->slot_bits[cycle % SLOT_CYCLES / 64] |= UINT64_C(1) << cycle % 64;
}

/* The cycle is over: what issued in it has left. */
STAGE void leave(struct ooo *core, uint64_t cycle) {
    struct issue_slots *slots = slots_at(core, cycle);
    uint64_t left;
    memcpy(&left, slots->queue, sizeof left);
    core->occupancy -= left;
    memset(slots, 0, sizeof *slots);
    if (core->branch_slots) {
        core->branches -= core->branch_slots[cycle % SLOT_CYCLES];
        core->branch_slots[cycle % SLOT_CYCLES] = 0;
    }
}

/* Far issues whose cycle has come near take their slots (issue.c). */
void refile_far(struct ooo *core);

/* All slots are free, all queues are empty (issue.c). */
void clear_slots(struct ooo *core);

/* All cycles up to this one are over. */
STAGE void leave_until(struct ooo *core, uint64_t cycle) {
    if (cycle <= core->left)
        return;
    uint64_t at = core->left + 1;
    while (at <= cycle) {
        uint64_t *word = &core->slot_bits[at % SLOT_CYCLES / 64];
        const uint64_t ahead = *word >> at % 64;
        const uint64_t next = ahead ? at + (uint32_t)__builtin_ctzll(ahead) : (at | 63) + 1;
        if (next > cycle)
            break;
        at = next;
        if (ahead) {
            *word &= ~(UINT64_C(1) << at % 64);
            leave(core, at++);
        }
    }
    core->left = cycle;
    if (__builtin_expect(core->far_earliest < core->left + SLOT_CYCLES / 2, 0))
        refile_far(core);
}

/* Notes an issue beyond the ring; it takes no slots until it comes near. */
void issue_far(struct ooo *core, uint64_t cycle, const struct uop_kind *is);

static inline bool unit_is_free(struct ooo *core, uint64_t cycle, uint32_t pool,
                                uint32_t interval) {
    for (uint32_t k = 0; k < interval; k++)
        if (slots_at(core, cycle + k)->pool[pool] >= core->pool_units[pool])
            return false;
    return true;
}

/* The first cycle from `ready` on in which the µop can issue, its slot and unit taken. */
STAGE uint64_t take_slot(struct ooo *core, const struct uop_kind *is, uint64_t ready) {
    const uint32_t interval = core->timing[is->operation].interval;
    const uint32_t width = core->queue_issues[is->queue], units = core->pool_units[is->pool];
    const uint64_t end = core->left + SLOT_CYCLES - interval;
    uint64_t cycle = ready;
    for (; cycle < end; cycle++) {
        struct issue_slots *slots = slots_at(core, cycle);
        if (slots->queue[is->queue] >= width || slots->pool[is->pool] >= units ||
            (__builtin_expect(interval > 1, 0) && !unit_is_free(core, cycle, is->pool, interval)))
            continue;
        slots->queue[is->queue]++;
        slots->pool[is->pool]++;
        mark_slots(core, cycle);
        for (uint32_t k = 1; k < interval; k++) {
            slots_at(core, cycle + k)->pool[is->pool]++;
            mark_slots(core, cycle + k);
        }
        if (is->flags & core->limited & U_BRANCH_ENTRY)
            core->branch_slots[cycle % SLOT_CYCLES]++;
        return cycle;
    }
    issue_far(core, cycle, is);
    return cycle;
}

/* A µop that has left its queue goes to a unit again: the first cycle from this one on with a free
 * one. */
static inline uint64_t take_unit(struct ooo *core, const struct uop_kind *is, uint64_t cycle) {
    const uint64_t first = later(cycle, core->left + 1), end = core->left + SLOT_CYCLES;
    for (uint64_t at = first; at < end; at++)
        if (slots_at(core, at)->pool[is->pool] < core->pool_units[is->pool]) {
            slots_at(core, at)->pool[is->pool]++;
            mark_slots(core, at);
            return at;
        }
    return cycle;
}
