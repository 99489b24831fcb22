/* Issue: each queue picks its oldest ready µops, up to its width, whose pool has a free unit. */
#include "core/ooo/ooo.h"

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
    uint32_t flags = uop->is.flags;
    struct life *life = life_of(core, uop);
    if (!(flags & U_ISSUED)) {
        uop->is.flags = flags | U_ISSUED;
        core->queue_used[uop->is.queue]--;
        if (life) {
            life->ready = uop->when;
            life->unit_wait = (uint32_t)(core->cycle - uop->when);
        }
    }
    if (life)
        life->issue = core->cycle;
    if (!(flags & (U_LOAD | U_STORE))) {
        uint32_t latency = core->classes[uop->is.operation].latency;
        uint32_t wake = latency;
        if (latency && latency < core->machine.issue_wakeup)
            wake = core->machine.issue_wakeup;
        finish(core, uop, core->cycle + latency, core->cycle + wake);
    } else if (flags & U_LOAD) {
        load_issue(core, uop);
    } else {
        store_issue(core, uop);
    }
}

/* Issues up to `budget` of the queue's ready µops; returns how many. */
static uint32_t issue_queue(struct core *core, struct ready_queue *ready, uint32_t budget) {
    uint64_t *uops = ready->uops;
    uint32_t kept = 0, i = 0, issued = 0, count = ready->count;
    for (; i < count && issued < budget; i++) {
        struct uop_state *uop = uop_at(core, uops[i]);
        if (take_unit(core, uop->is.pool, core->classes[uop->is.operation].interval)) {
            issue(core, uop);
            issued++;
        } else {
            uops[kept++] = uops[i];
        }
    }
    if (issued) {
        core->progress = true;
        while (i < count)
            uops[kept++] = uops[i++];
        ready->count = kept;
    }
    return issued;
}

void issue_stage(struct core *core) {
    uint32_t budget[MACHINE_MAX_QUEUES];
    for (uint32_t queue = 0; queue < core->queue_count; queue++)
        budget[queue] = core->queues[queue].issue;
    for (;;) {
        core->issuing = true;
        for (uint32_t queue = 0; queue < core->queue_count; queue++)
            if (core->ready[queue].count)
                budget[queue] -= issue_queue(core, &core->ready[queue], budget[queue]);
        core->issuing = false;
        if (core->fresh_count == 0)
            return;
        /* Zero latencies: what became ready in this very cycle may still issue in it. */
        for (uint32_t i = 0; i < core->fresh_count; i++)
            schedule(core, uop_at(core, core->fresh[i]), core->cycle);
        core->fresh_count = 0;
    }
}
