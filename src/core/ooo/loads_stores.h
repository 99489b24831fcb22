/* Loads and stores in flight.
 *
 * The trace gives every address, so the store a load depends on is known from the beginning: the
 * youngest older one that overlaps it, if it is still in the queue when the load dispatches. What
 * the hardware would know at the load's issue then decides: it forwards when the store's address
 * and data are known, waits when the data is not or when the store covers only a part, and goes
 * ahead to the cache when the store's address is still unknown. The last is found out when the
 * store's address comes: a memory ordering violation, flushed when the load reaches the head. A
 * store that covers only a part cannot forward: the load waits until the cache has it, which then
 * has all older ones too.
 *
 * A store leaves the queue, in order, once it has committed and its line is owned. It is written
 * when a µop dispatches after that cycle, or something waits for it, so that the cache meets the
 * accesses of loads and stores nearly in the order of cycles. */
#pragma once

#include "core/ooo/issue.h"
#include "tap/life.h"

/* ---- which store a load depends on, by program order ---- */

/* A load's youngest older store that overlaps it, among those that can still be in the queue (with
 * lives: or that one alone if it is in reach). */
struct store_met {
    uint64_t number; /* UNKNOWN: none */
    bool covers;     /* it holds all the load reads */
};
void note_store(struct ooo *core, uint64_t number, const struct stream_uop *store);

enum { GRANULE_SHIFT = 3 };
static inline uint32_t granule_slot(uint64_t granule) {
    return (uint32_t)(granule ^ granule >> 12) % STORE_SLOTS;
}

/* Looks at the stores from number − 1 on backwards. */
struct store_met search_stores(const struct ooo *core, const struct stream_uop *load, uint64_t seen,
                               uint64_t number);

/* `seen` stores are older. Begins with the youngest that wrote to one of the load's granules. A
 * squashed store may stand there in place of an older one: then with the youngest of all. */
STAGE struct store_met find_store(const struct ooo *core, const struct stream_uop *load,
                                  uint64_t seen) {
    const uint64_t last = (load->address + load->size_bytes - 1) >> GRANULE_SHIFT;
    uint64_t granule = load->address >> GRANULE_SHIFT;
    uint64_t number = granule <= last ? core->youngest_store[granule_slot(granule)] : 0;
    while (++granule <= last)
        number = later(number, core->youngest_store[granule_slot(granule)]);
    number = lesser(number, seen);
    if (!number || seen - number >= core->store_reach)
        return (struct store_met){UNKNOWN, false};
    return search_stores(core, load, seen, number);
}

/* Whether the load, which reads from the store so many back, did so the last time, as far as is
 * remembered; from now on it is. */
bool predicts_forward(struct ooo *core, uint32_t insn, uint32_t stores_back);

/* ---- stores leave ---- */

/* The block that a byte lies in; of machines that do not mind, one for all. */
static inline uint64_t block_of(const struct ooo *core, uint64_t address) {
    return address >> core->store_block_shift;
}

/* Cycles that the oldest store, written in cycle drain_due, waits: if it changes a part of a word
 * that was written shortly before. The cache checks words, so it has to read this one first
 * (core.partial_store). Committed stores to one block that follow each other are written together,
 * and may change all of a word among them (loads_stores.c). */
uint64_t wait_for_words(struct ooo *core);

/* The cycle in which the oldest store that has not been drained can be: so many a cycle, and of one
 * block, behind its commit. Of those that wait for one line of another core the first takes the
 * cycle in which it comes. */
STAGE void find_drain_due(struct ooo *core) {
    const struct store_entry *store = store_at(core, core->drained);
    if (core->drained >= core->committed_stores) {
        core->drain_due = UNKNOWN;
        return;
    }
    const bool full = core->drained_in_cycle >= core->machine.store_drain ||
                      block_of(core, store->address) != core->drained_block;
    core->drain_due = later(store->commit, core->drain_cycle + full);
    if (store->address >> core->line_shift == core->awaited_line)
        core->drain_due = later(core->drain_due, core->awaited + 1);
    if (__builtin_expect(core->machine.partial_store, 0))
        core->drain_due += wait_for_words(core);
}

void drain_one(struct ooo *core);

/* Of one core of several: whether the oldest store has to ask for its line, which others may ask
 * for before it. It is asked for when that is known, which nobody notices who comes before the
 * answer could. */
bool drain_must_wait(struct ooo *core);

/* All stores that can be drained up to this cycle are. */
STAGE void drain_until(struct ooo *core, uint64_t cycle) {
    while (core->drain_due <= cycle && !drain_must_wait(core))
        drain_one(core);
}

/* The cycle in which a store is in the cache, it and all before it. */
uint64_t release_of(struct ooo *core, uint64_t number);

/* Whether the store is in the queue still at this cycle. */
static inline bool in_queue(struct ooo *core, uint64_t number, uint64_t cycle) {
    while (core->drained <= number && core->drain_due <= cycle && !drain_must_wait(core))
        drain_one(core);
    return number >= core->drained || store_at(core, number)->release > cycle;
}

/* The store commits: it may leave, so many a cycle. */
STAGE void commit_store(struct ooo *core, uint64_t number, uint64_t cycle) {
    store_at(core, number)->commit = cycle;
    core->committed_stores = number + 1;
    if (core->drained == number)
        find_drain_due(core);
}

/* ---- stores issue ---- */

static inline uint16_t signature_of(const struct memory_result *result, bool load) {
    uint16_t psv = 0;
    if (result->events & MEMORY_MISSED_L1)
        psv |= PSV_ST_L1;
    if (result->events & MEMORY_MISSED_TLB)
        psv |= PSV_ST_TLB;
    if (load && result->events & MEMORY_MISSED_LLC)
        psv |= PSV_ST_LLC;
    if (load && result->events & MEMORY_COHERENCE)
        psv |= PSV_ST_CO;
    return psv;
}

/* The data of a store, known in this cycle, take one of their units for a cycle: the cycle from
 * which on they are there. */
uint64_t take_data_unit(struct ooo *core, uint64_t ready);

/* The cycle from which on the data of a store are there. */
STAGE uint64_t data_there(struct ooo *core, const struct uop_cycles *uop, uint8_t data) {
    const uint64_t known = core->registers.wake[data];
    if (__builtin_expect(!core->data_apart, 1))
        return known;
    return take_data_unit(core, later(uop->dispatch + core->machine.dispatch_to_issue, known));
}

/* A store issues when its address can be computed, and is complete when its data are there too. */
STAGE void execute_store(struct ooo *core, struct standing *now, uint64_t at,
                         const struct stream_uop *stream, uint8_t data, struct uop_cycles *uop,
                         struct kept_life *kept) {
    const struct registers *registers = &core->registers;
    const uint64_t number = now->stores++;
    struct store_entry *store = store_at(core, number);
    uint64_t resolved = uop->issue + core->classes[OP_STORE].latency;
    *store = (struct store_entry){.uop = at,
                                  .address = stream->address,
                                  .end = stream->address +
                                         (stream->access_count ? stream->size_bytes : 0),
                                  .insn = stream->insn,
                                  .issue = uop->issue,
                                  .commit = UNKNOWN};
    note_store(core, number, stream);
    if (store->end != store->address &&
        !memory_translates(core->memory, uop->issue, store->address)) {
        struct memory_result result;
        memory_translate(core->memory, uop->issue, store->address, &result);
        const uint64_t walk = result.ready - uop->issue;
        uop->psv |= signature_of(&result, false);
        resolved += walk;
        if (kept) {
            kept->miss_latency = (uint32_t)walk;
            kept->walk_latency = low16(walk);
        }
    }
    store->complete = uop->complete = uop->wake = later(resolved, data_there(core, uop, data));
    store->known = later(uop->issue, registers->issue[data]);
}

/* ---- loads ---- */

/* Whether this store, which overlaps the load, hands it what it reads. */
static inline bool forwards(const struct ooo *core, const struct store_met *met) {
    return met->covers || core->ideal & IDEAL_STFWD;
}

/* From address and data to the value, beside what the load's form takes. What stfwd takes away is
 * a wait: what is forwarded only thanks to it is never later than from the cache. */
static inline uint32_t forward_latency(const struct ooo *core, const struct store_met *met) {
    const uint32_t latency = core->machine.store_forward;
    if (core->ideal & IDEAL_DL1)
        return 0;
    return met->covers || latency < core->l1d_latency ? latency : core->l1d_latency;
}

/* What the load's form takes beyond address generation and L1. */
static inline uint32_t late_of(const struct ooo *core, const struct unit *unit) {
    return unit->latency - core->classes[OP_LOAD].latency;
}

/* Of a load predicted to depend on the store: it does not issue before what it needs is there. */
uint64_t wait_for_store(struct ooo *core, const struct store_met *met, uint64_t ready,
                        uint16_t *psv);

/* The wait table forgets in epochs: a load that violated is held back in its epoch and the next. */
static inline uint64_t epoch_of(uint64_t cycle) {
    return cycle >> 14;
}

static inline void wait_from_now_on(struct ooo *core, uint32_t insn, uint64_t cycle) {
    core->wait_table[insn % WAIT_TABLE] = epoch_of(cycle) + 1;
}

/* Whether the load is held back until the store's address is known. */
STAGE bool waits_for_store(const struct ooo *core, uint32_t insn, uint64_t cycle) {
    if (core->machine.disambiguation != DISAMBIGUATE_WAIT_TABLE)
        return core->machine.disambiguation == DISAMBIGUATE_PERFECT;
    const uint64_t marked = core->wait_table[insn % WAIT_TABLE];
    return marked && epoch_of(cycle) + 1 - marked <= 1;
}

/* The first cycle in which a load that takes its unit for more than a cycle can issue: one that
 * lies in two lines for a cycle more than others. */
uint64_t take_long_load(struct ooo *core, const struct stream_uop *stream, uint64_t ready);

/* A load at uop->issue, which may become later: from the store it depends on, or from the cache. */
void execute_waiting_load(struct ooo *core, uint64_t at, const struct stream_uop *stream,
                          const struct store_met *met, struct uop_cycles *uop,
                          struct kept_life *kept);

/* The same, of cycles that stay in registers. */
STAGE void execute_slow_load(struct ooo *core, uint64_t at, const struct stream_uop *stream,
                             const struct store_met *met, struct uop_cycles *uop,
                             struct kept_life *kept) {
    struct uop_cycles slow = *uop;
    execute_waiting_load(core, at, stream, met, &slow, kept);
    *uop = slow;
}

/* A load that depends on no store in the queue. */
STAGE void execute_load(struct ooo *core, uint64_t at, const struct stream_uop *stream,
                        struct uop_cycles *uop, struct kept_life *kept) {
    static const struct store_met NONE = {UNKNOWN, false};
    uint64_t bringer;
    if (stream->access_count != 1 || stream->flags & (U_PREFETCH | U_WAIT_HEAD | U_SERIAL) ||
        !memory_load_hits(core->memory, uop->issue, stream->address, stream->size_bytes, at,
                          stream->insn, kept ? &bringer : NULL)) {
        execute_slow_load(core, at, stream, &NONE, uop, kept);
        return;
    }
    const uint32_t latency = unit_of(core, stream)->wake;
    uop->complete = uop->wake = uop->issue + latency;
    if (kept) {
        kept->brought_by = bringer + 1;
        kept->l1_latency = low16(latency);
    }
}
