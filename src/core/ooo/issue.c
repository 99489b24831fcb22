/* Issues so far ahead that the ring of slots does not reach: behind long chains of misses, where
 * there is no press of µops. They are noted apart, and take their slots when they come near. */
#include "core/ooo/issue.h"

void issue_far(struct ooo *core, uint64_t cycle, const struct uop_kind *is) {
    if (core->far_count == core->far_capacity)
        return; /* cannot be: it holds as many as may be in flight */
    core->far[core->far_count++] = (struct far_issue){
        cycle, is->queue, is->pool, (is->flags & core->limited & U_BRANCH_ENTRY) != 0};
    core->far_earliest = lesser(core->far_earliest, cycle);
}

void refile_far(struct ooo *core) {
    uint32_t kept = 0;
    core->far_earliest = UNKNOWN;
    for (uint32_t i = 0; i < core->far_count; i++) {
        const struct far_issue far = core->far[i];
        if (far.cycle <= core->left) { /* dispatch has gone on past it at a bound */
            core->occupancy -= UINT64_C(1) << 16 * far.queue;
            core->branches -= far.branch;
        } else if (far.cycle < core->left + SLOT_CYCLES) {
            struct issue_slots *slots = slots_at(core, far.cycle);
            slots->queue[far.queue]++;
            slots->pool[far.pool]++;
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

void clear_slots(struct ooo *core) {
    for (uint32_t word = 0; word < SLOT_CYCLES / 64; word++) {
        for (uint64_t left = core->slot_bits[word]; left; left &= left - 1) {
            const uint32_t cycle = word * 64 + (uint32_t)__builtin_ctzll(left);
            core->slots[cycle] = (struct issue_slots){.queue = {0}};
            if (core->branch_slots)
                core->branch_slots[cycle] = 0;
        }
        core->slot_bits[word] = 0;
    }
    core->occupancy = core->branches = core->far_count = 0;
    core->far_earliest = UNKNOWN;
}
