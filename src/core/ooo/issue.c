/* Issue: each queue picks its oldest ready µops, up to its width, whose pool has a free unit.
 *
 * A pool is open as long as it and its queue have a place left in the cycle. The list of the ready
 * names each µop's pool, so those that must wait, many while misses wait for a free MSHR, are
 * passed over without a look at them. */
#include "core/ooo/ooo.h"

#include <string.h>

#include "core/ooo/wakeup.h"

/* Keeps a unit of a pool that is not pipelined for as long as the µop needs it; false: none is
 * free. */
static bool hold_unit(struct ooo *core, uint32_t pool, uint32_t interval) {
    uint64_t *free_at = core->unit_free[pool];
    for (uint32_t unit = 0; unit < core->pools[pool].units; unit++)
        if (free_at[unit] <= core->cycle) {
            free_at[unit] = core->cycle + interval;
            return true;
        }
    return false;
}

/* What is left of a cycle's places. */
struct places {
    uint16_t queue[MACHINE_MAX_QUEUES], pool[POOL_SLOTS];
    uint32_t open; /* pools */
};

/* One of each is taken. */
static inline void take_place(const struct ooo *core, struct places *places, uint32_t queue,
                              uint32_t pool) {
    bool queue_full = --places->queue[queue] == 0, pool_full = --places->pool[pool] == 0;
    places->open &=
        ~((uint32_t)pool_full << pool | (core->queue_pools[queue] & -(uint32_t)queue_full));
}

static inline void issue(struct ooo *core, struct uop_state *uop, struct uop_kind is) {
    struct kept_life *life = life_of(core, uop);
    if (!(is.flags & U_ISSUED)) {
        uop->is.flags = is.flags | U_ISSUED;
        core->queue_free[is.queue]++;
        if (life) {
            life->ready = (uint32_t)uop->when;
            life->unit_wait = (uint32_t)(core->cycle - uop->when);
        }
    }
    if (life)
        life->issue = (uint32_t)core->cycle;
    if (!(is.flags & (U_LOAD | U_STORE))) {
        struct timing timing = core->timing[is.operation];
        finish(core, uop, core->cycle + timing.latency, core->cycle + timing.wake);
    } else if (is.flags & U_LOAD) {
        load_issue(core, uop);
    } else {
        store_issue(core, uop);
    }
}

/* What an issue made ready in this very cycle (zero latencies) may still issue in it. Being younger
 * than what issued, it has its place, by age, among those not yet looked at: from `next` to
 * `count`. Returns their new end. */
static __attribute__((noinline)) uint32_t merge_fresh(struct ooo *core, uint32_t next,
                                                      uint32_t count) {
    for (uint32_t k = 0; k < core->fresh_count; k++) {
        uint64_t sequence = core->fresh[k];
        uint64_t entry = ready_entry(sequence, uop_at(core, sequence)->is.pool);
        uint32_t at = count++;
        for (; at > next && core->ready[at - 1] > entry; at--)
            core->ready[at] = core->ready[at - 1];
        core->ready[at] = entry;
    }
    core->fresh_count = 0;
    return count;
}

/* Goes once through the ready µops, oldest first; each issues if its pool is open. */
static void issue_ready(struct ooo *core, struct places *places) {
    uint64_t *ready = core->ready;
    uint32_t kept = 0, count = core->ready_count;
    bool issued = false;
    core->issuing = true;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t entry = ready[i];
        uint32_t pool = entry % POOL_SLOTS;
        ready[kept] = entry;
        if (!(places->open >> pool & 1)) {
            kept++;
            continue;
        }
        struct uop_state *uop = uop_at(core, entry / POOL_SLOTS);
        struct uop_kind is = uop->is;
        if (core->slow_pools >> pool & 1 &&
            !hold_unit(core, pool, core->classes[is.operation].interval)) {
            places->open &= ~(1u << pool); /* nor is there one for a later µop */
            kept++;
            continue;
        }
        take_place(core, places, is.queue, pool);
        issue(core, uop, is);
        issued = true;
        if (__builtin_expect(core->fresh_count != 0, 0))
            count = merge_fresh(core, i + 1, count);
    }
    core->issuing = false;
    core->progress |= issued;
    core->ready_count = kept;
}

void issue_stage(struct ooo *core) {
    struct places places;
    memcpy(places.queue, core->queue_issues, sizeof places.queue);
    memcpy(places.pool, core->pool_units, sizeof places.pool);
    places.open = core->open_pools;
    issue_ready(core, &places);
}
