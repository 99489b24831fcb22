/* Loads and stores in flight.
 *
 * The trace gives every address, so the store a load depends on is known from the beginning
 * (order.c): the youngest older one that overlaps it, if it is still in the queue when the load
 * dispatches. What the hardware would know at the load's issue then decides: it forwards when the
 * store's address and data are known, waits when the data is not or when the store covers only a
 * part, and goes ahead to the cache when the store's address is still unknown. The last is found
 * out when the store's address comes: a memory ordering violation, flushed when the load reaches
 * the head. A store that covers only a part cannot forward: the load waits until the cache has it,
 * which then has all older ones too.
 *
 * A store leaves the queue, in order, once it has committed and its line is owned. */
#include "core/ooo/ooo.h"

#include <string.h>

#include "core/ooo/wakeup.h"

enum { EPOCH_SHIFT = 14 };

static uint16_t low16(uint64_t cycles) {
    return cycles < UINT16_MAX ? (uint16_t)cycles : UINT16_MAX;
}

static struct store_entry *store_at(struct ooo *core, uint64_t number) {
    return &core->stores[number & core->store_mask];
}

void store_enter(struct ooo *core, struct uop_state *uop, uint64_t sequence, uint64_t data_ready) {
    const struct stream_uop *stream = stream_at(core, sequence);
    uint64_t number = core->store_tail++;
    struct store_entry *store = store_at(core, number);
    uop->store = (uint32_t)number;
    *store = (struct store_entry){
        .uop = sequence,
        .address = stream->address,
        .end = stream->address + (stream->access_count ? stream->size_bytes : 0),
        .data_ready = data_ready,
        .resolved = UNKNOWN,
        .complete = UNKNOWN,
        .release = UNKNOWN,
        .insn = stream->insn,
        .forward_waiters = NO_LINK,
        .drain_waiters = NO_LINK,
        .speculated = NO_LINK,
    };
}

/* Whether the store, which overlaps the load, holds all that it reads. */
static bool covers(const struct store_entry *store, const struct stream_uop *load) {
    return load->access_count == 1 && store->address <= load->address &&
           load->address + load->size_bytes <= store->end;
}

static bool forwards(const struct ooo *core, const struct store_entry *store,
                     const struct stream_uop *load) {
    return core->ideal & IDEAL_STFWD || covers(store, load);
}

/* From address and data to the value. What stfwd takes away is a wait: what is forwarded only
 * thanks to it is never later than from the cache. */
static uint32_t forward_latency(const struct ooo *core, const struct store_entry *store,
                                const struct stream_uop *load) {
    if (core->ideal & IDEAL_DL1)
        return 0;
    uint32_t latency = core->machine.store_forward;
    return covers(store, load) || latency < core->l1d_latency ? latency : core->l1d_latency;
}

static void list_add(struct ooo *core, struct uop_state *load, uint32_t *list) {
    load->link[LINK_STORE] = *list;
    *list = slot_of(core, load);
}

/* The load waits until the list is woken. */
static void hang(struct ooo *core, struct uop_state *load, uint32_t *list) {
    load->is.pending++;
    list_add(core, load, list);
}

static bool predicted_to_wait(const struct ooo *core, uint32_t insn) {
    uint64_t epoch = core->cycle >> EPOCH_SHIFT;
    uint64_t marked = core->wait_table[insn % WAIT_TABLE];
    return marked && epoch + 1 - marked <= 1;
}

void load_enter(struct ooo *core, struct uop_state *load, uint64_t sequence, uint64_t number) {
    const struct stream_uop *stream = stream_at(core, sequence);
    struct store_entry *store = store_at(core, number);
    load->store = (uint32_t)number;
    load->is.flags |= U_DEPENDS;
    bool waits = core->machine.disambiguation == DISAMBIGUATE_PERFECT ||
                 (core->machine.disambiguation == DISAMBIGUATE_WAIT_TABLE &&
                  predicted_to_wait(core, stream->insn));
    if (waits && !forwards(core, store, stream))
        hang(core, load, &store->drain_waiters);
    else if (waits && store->complete == UNKNOWN)
        hang(core, load, &store->forward_waiters);
}

/* Wakes a list of loads: each may issue from `cycle` on. Those that waited for nothing else get the
 * event. */
static void wake_loads(struct ooo *core, uint32_t list, uint64_t cycle, enum psv event) {
    while (list != NO_LINK) {
        struct uop_state *load = &core->uops[list];
        list = load->link[LINK_STORE];
        bool later = cycle > load->when;
        if (later)
            load->when = cycle;
        if (--load->is.pending > 0)
            continue;
        load->psv |= later ? event : 0;
        schedule(core, load, load->when);
    }
}

static void load_done(struct ooo *core, struct uop_state *load, uint64_t complete) {
    finish(core, load, complete, complete);
}

/* True when the load was dealt with by the store it depends on: forwarded, or hung up on it. Sets
 * *passed when the load goes ahead of that store, whose address is not known yet. */
static bool load_meets_store(struct ooo *core, struct uop_state *load,
                             const struct stream_uop *stream, struct store_entry **passed) {
    if ((int32_t)(load->store - (uint32_t)core->store_head) < 0)
        return false; /* the cache has it */
    struct store_entry *store = store_at(core, load->store);
    uint64_t address_known = core->cycle + core->classes[OP_LOAD].latency;
    if (store->resolved == UNKNOWN) {
        *passed = store;
        return false;
    }
    if (!forwards(core, store, stream)) {
        hang(core, load, &store->drain_waiters);
        return true;
    }
    if (store->complete == UNKNOWN) {
        hang(core, load, &store->forward_waiters);
        return true;
    }
    uint64_t start = store->complete > address_known ? store->complete : address_known;
    load->is.flags |= U_FORWARDED;
    core->statistics.forwarded++;
    uint32_t latency = forward_latency(core, store, stream);
    struct kept_life *life = life_of(core, load);
    if (life) {
        life->store_back = (uint32_t)(sequence_of(core, load) - store->uop);
        life->l1_latency = low16(start + latency - core->cycle);
    }
    load_done(core, load, start + latency);
    return true;
}

static uint16_t signature_of(const struct memory_result *result, bool load) {
    uint16_t psv = 0;
    if (result->events & MEMORY_MISSED_L1)
        psv |= PSV_ST_L1;
    if (result->events & MEMORY_MISSED_TLB)
        psv |= PSV_ST_TLB;
    if (load && result->events & MEMORY_MISSED_LLC)
        psv |= PSV_ST_LLC;
    return psv;
}

/* A load that is not a settled hit: all its accesses. */
static __attribute__((noinline)) void load_access(struct ooo *core, struct uop_state *load,
                                                  const struct stream_uop *stream,
                                                  struct store_entry *passed) {
    uint64_t sequence = sequence_of(core, load);
    uint32_t address_latency = core->classes[OP_LOAD].latency;
    uint32_t l1_latency = core->ideal & IDEAL_DL1 ? 0 : core->l1d_latency;
    uint64_t ready = core->cycle + core->l1d_latency;
    struct memory_result last = {.bringer = UNKNOWN};
    for (uint32_t i = 0; i < stream->access_count; i++) {
        const struct memory_access *access =
            &core->gathers[(stream->access + i) & core->gather_mask];
        uint64_t address = i ? access->address : stream->address;
        uint32_t size = i ? access->size_bytes : stream->size_bytes;
        struct memory_result result;
        if (load->is.flags & U_PREFETCH) {
            memory_prefetch(core->memory, core->cycle, address, sequence, stream->insn);
            continue;
        }
        memory_load(core->memory, core->cycle, address, size, sequence, stream->insn, &result);
        if (result.retry) {
            struct kept_life *life = life_of(core, load);
            if (life)
                life->mshr_wait += (uint32_t)(result.retry - core->cycle);
            schedule(core, load, result.retry);
            return;
        }
        load->psv |= signature_of(&result, true);
        if (result.ready > ready || last.bringer == UNKNOWN)
            last = result;
        if (result.ready > ready)
            ready = result.ready;
    }
    if (passed)
        list_add(core, load, &passed->speculated);
    uint64_t beyond_l1 = ready - core->cycle - core->l1d_latency;
    struct kept_life *life = life_of(core, load);
    if (life) {
        life->brought_by = last.bringer + 1;
        life->memory_level = last.level;
        life->memory_events = last.events;
        life->l1_latency = low16(address_latency + l1_latency);
        life->miss_latency = (uint32_t)beyond_l1;
        life->walk_latency = low16(last.tlb_cycles < beyond_l1 ? last.tlb_cycles : beyond_l1);
        life->fill = low16(last.fill_cycles);
    }
    load_done(core, load, core->cycle + address_latency + l1_latency + beyond_l1);
}

void load_issue(struct ooo *core, struct uop_state *load) {
    struct store_entry *passed = NULL;
    uint64_t sequence = sequence_of(core, load);
    const struct stream_uop *stream = stream_at(core, sequence);
    if (load->is.flags & U_DEPENDS && load_meets_store(core, load, stream, &passed))
        return;
    uint64_t bringer;
    if (stream->access_count != 1 || load->is.flags & U_PREFETCH ||
        !memory_load_hits(core->memory, core->cycle, stream->address, stream->size_bytes, sequence,
                          stream->insn, core->lives ? &bringer : NULL)) {
        load_access(core, load, stream, passed);
        return;
    }
    if (core->lives) {
        life_of(core, load)->brought_by = bringer + 1;
        life_of(core, load)->l1_latency = low16(core->load_latency);
    }
    if (passed)
        list_add(core, load, &passed->speculated);
    load_done(core, load, core->cycle + core->load_latency);
}

/* Address and data are known. */
static void store_complete(struct ooo *core, struct uop_state *uop, struct store_entry *store) {
    uint64_t complete = store->resolved > store->data_ready ? store->resolved : store->data_ready;
    store->complete = complete;
    finish(core, uop, complete, complete);
    uint32_t waiters = store->forward_waiters;
    store->forward_waiters = NO_LINK;
    uint32_t address_latency = core->classes[OP_LOAD].latency;
    wake_loads(core, waiters, complete > address_latency ? complete - address_latency : 0, 0);
}

void store_issue(struct ooo *core, struct uop_state *uop) {
    struct store_entry *store = store_at(core, uop->store);
    uint32_t latency = core->classes[OP_STORE].latency;
    if (store->end != store->address &&
        !memory_translates(core->memory, core->cycle, store->address)) {
        struct memory_result result;
        memory_translate(core->memory, core->cycle, store->address, &result);
        uop->psv |= signature_of(&result, false);
        latency += (uint32_t)(result.ready - core->cycle);
        struct kept_life *life = life_of(core, uop);
        if (life) {
            life->miss_latency = (uint32_t)(result.ready - core->cycle);
            life->walk_latency = low16(life->miss_latency);
        }
    }
    store->resolved = core->cycle + latency;
    for (uint32_t slot = store->speculated; slot != NO_LINK;) {
        struct uop_state *load = &core->uops[slot];
        slot = load->link[LINK_STORE];
        load->is.flags |= U_VIOLATED;
        load->psv |= PSV_FL_MO;
        if (core->machine.disambiguation == DISAMBIGUATE_WAIT_TABLE)
            core->wait_table[stream_at(core, sequence_of(core, load))->insn % WAIT_TABLE] =
                (core->cycle >> EPOCH_SHIFT) + 1;
    }
    store->speculated = NO_LINK;
    if (store->data_ready != UNKNOWN)
        store_complete(core, uop, store);
}

void store_data(struct ooo *core, struct uop_state *uop, uint64_t ready) {
    struct store_entry *store = store_at(core, uop->store);
    store->data_ready = ready;
    if (store->resolved != UNKNOWN)
        store_complete(core, uop, store);
}

static void release(struct ooo *core, struct store_entry *store) {
    wake_loads(core, store->drain_waiters, core->cycle, PSV_ST_FW);
    store->drain_waiters = NO_LINK;
    core->store_head++;
    core->progress = true;
}

/* Writes a committed store to the cache. False: no MSHR, try again at drain_resume. */
static bool write_store(struct ooo *core, struct store_entry *store) {
    store->release = core->cycle + 1;
    store->write_latency = 1;
    store->write_level = LEVEL_L1;
    store->fill = 0;
    if (store->end == store->address) /* address not in the trace */
        return true;
    struct memory_result result;
    uint32_t size = (uint32_t)(store->end - store->address);
    if (memory_store_hits(core->memory, core->cycle, store->address, size, store->uop, store->insn))
        return true;
    memory_store(core->memory, core->cycle, store->address, size, store->uop, store->insn, &result);
    if (result.retry) {
        core->drain_resume = result.retry;
        return false;
    }
    if (result.events & MEMORY_MISSED_L1 && result.ready > store->release)
        store->release = result.ready;
    store->fill = low16(result.fill_cycles);
    store->write_level = result.level;
    if (store->fill || store->release > store_at(core, core->store_drain - 1)->release)
        store->write_latency = low16(store->release - core->cycle);
    return true;
}

void drain_stage(struct ooo *core) {
    while (core->store_head < core->store_drain) {
        struct store_entry *store = store_at(core, core->store_head);
        if (store->release > core->cycle)
            break;
        release(core, store);
    }
    for (uint32_t n = 0; n < core->machine.store_drain && core->store_drain < core->store_tail &&
                         core->cycle >= core->drain_resume;
         n++) {
        struct store_entry *store = store_at(core, core->store_drain);
        if (store->uop >= core->head || !write_store(core, store))
            break;
        core->store_drain++;
        core->progress = true;
    }
}

/* After a squash from the head on: what is left in the queue has committed, and every load that
 * hung on it is gone. */
void stores_squash(struct ooo *core) {
    while (core->store_tail > core->store_head &&
           store_at(core, core->store_tail - 1)->uop >= core->head)
        core->store_tail--;
    for (uint64_t number = core->store_head; number < core->store_tail; number++) {
        struct store_entry *store = store_at(core, number);
        store->forward_waiters = store->drain_waiters = store->speculated = NO_LINK;
    }
}
