/* Issue: each queue picks its oldest ready µops, up to its width, whose pool has a free unit. */
#include "core/ooo/ooo.h"

#include <string.h>

/* Takes a unit of the pool for this cycle, and beyond for an unpipelined class. */
static bool take_unit(struct core *core, uint32_t pool, uint32_t interval) {
    uint32_t units = core->pools[pool].units;
    if (core->pool_pipelined[pool]) {
        if (core->pool_cycle[pool] != core->cycle) {
            core->pool_cycle[pool] = core->cycle;
            core->pool_used[pool] = 0;
        }
        if (core->pool_used[pool] == units)
            return false;
        core->pool_used[pool]++;
        return true;
    }
    uint64_t *free_at = core->unit_free[pool];
    for (uint32_t unit = 0; unit < units; unit++)
        if (free_at[unit] <= core->cycle) {
            free_at[unit] = core->cycle + interval;
            return true;
        }
    return false;
}

static void issue(struct core *core, struct uop_state *uop) {
    struct life *life = life_of(core, uop);
    if (!(uop->flags & U_ISSUED)) {
        uop->flags |= U_ISSUED;
        core->queue_used[uop->queue_index]--;
        if (life) {
            life->ready = uop->when;
            life->unit_wait = (uint32_t)(core->cycle - uop->when);
        }
    }
    if (life)
        life->issue = core->cycle;
    if (uop->flags & U_LOAD) {
        load_issue(core, uop);
    } else if (uop->flags & U_STORE) {
        store_issue(core, uop);
    } else {
        uint32_t latency = core->classes[uop->operation].latency;
        uint32_t wake = latency;
        if (latency && latency < core->machine.issue_wakeup)
            wake = core->machine.issue_wakeup;
        finish(core, uop, core->cycle + latency, core->cycle + wake);
    }
}

static uint32_t issue_queue(struct core *core, uint32_t queue, uint32_t budget) {
    struct ready_queue *ready = &core->ready[queue];
    uint32_t kept = 0, i = 0, issued = 0;
    for (; i < ready->count && issued < budget; i++) {
        struct uop_state *uop = uop_at(core, ready->uops[i]);
        if (take_unit(core, uop->pool, core->classes[uop->operation].interval)) {
            issue(core, uop);
            issued++;
        } else {
            ready->uops[kept++] = ready->uops[i];
        }
    }
    if (kept != i) {
        memmove(ready->uops + kept, ready->uops + i, (ready->count - i) * sizeof *ready->uops);
        ready->count -= i - kept;
    }
    core->progress |= issued != 0;
    return issued;
}

void issue_stage(struct core *core) {
    uint32_t budget[MACHINE_MAX_QUEUES];
    for (uint32_t queue = 0; queue < core->queue_count; queue++)
        budget[queue] = core->queues[queue].issue;
    bool again;
    do {
        core->issuing = true;
        for (uint32_t queue = 0; queue < core->queue_count; queue++)
            if (core->ready[queue].count)
                budget[queue] -= issue_queue(core, queue, budget[queue]);
        core->issuing = false;
        /* Zero latencies: what became ready in this very cycle may still issue in it. */
        again = core->fresh_count != 0;
        for (uint32_t i = 0; i < core->fresh_count; i++)
            schedule(core, uop_at(core, core->fresh[i]), core->cycle);
        core->fresh_count = 0;
    } while (again);
}
