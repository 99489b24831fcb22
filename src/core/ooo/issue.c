/* Issue: each queue picks its oldest ready µops, up to its width, whose pool has a free unit. */
#include "core/ooo/ooo.h"

#include <string.h>

/* Keeps a unit of a pool that is not pipelined for as long as the µop needs it; false: none is
 * free. */
static bool hold_unit(struct core *core, uint32_t pool, uint32_t interval) {
    uint64_t *free_at = core->unit_free[pool];
    for (uint32_t unit = 0; unit < core->pools[pool].units; unit++)
        if (free_at[unit] <= core->cycle) {
            free_at[unit] = core->cycle + interval;
            return true;
        }
    return false;
}

static inline void issue(struct core *core, struct uop_state *uop) {
    uint32_t flags = uop->is.flags;
    struct life *life = life_of(core, uop);
    if (!(flags & U_ISSUED)) {
        uop->is.flags = flags | U_ISSUED;
        core->queue_free[uop->is.queue]++;
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

/* Goes once through the ready µops, oldest first; each issues if its queue and its pool have a
 * place left in this cycle. */
static void issue_ready(struct core *core, uint32_t *budget) {
    uint64_t *ready = core->ready;
    uint32_t kept = 0, count = core->ready_count;
    for (uint32_t i = 0; i < count; i++) {
        struct uop_state *uop = uop_at(core, ready[i]);
        uint32_t pool = uop->is.pool, queue = uop->is.queue;
        bool slow = core->slow_pools & 1u << pool;
        ready[kept] = ready[i];
        bool place = (budget[queue] != 0) & (core->pool_free[pool] != 0);
        if (!place || (slow && !hold_unit(core, pool, core->classes[uop->is.operation].interval))) {
            kept++;
            continue;
        }
        budget[queue]--;
        core->pool_free[pool]--;
        issue(core, uop);
    }
    core->progress |= kept != count;
    core->ready_count = kept;
}

/* Zero latencies: what became ready in this very cycle may still issue in it. */
static bool deliver_fresh(struct core *core) {
    uint32_t count = core->fresh_count;
    core->fresh_count = 0;
    for (uint32_t i = 0; i < count; i++)
        schedule(core, uop_at(core, core->fresh[i]), core->cycle);
    return count != 0;
}

void issue_stage(struct core *core) {
    uint32_t budget[MACHINE_MAX_QUEUES];
    for (uint32_t queue = 0; queue < MACHINE_MAX_QUEUES; queue++)
        budget[queue] = core->queues[queue].issue;
    memcpy(core->pool_free, core->pool_units, sizeof core->pool_free);
    do {
        core->issuing = true;
        issue_ready(core, budget);
        core->issuing = false;
    } while (core->fresh_count && deliver_fresh(core));
}
