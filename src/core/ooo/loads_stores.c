/* Loads that meet a store or miss, and stores that leave the queue. */
#include "core/ooo/loads_stores.h"

#include <string.h>

/* ---- which store a load depends on ---- */

void note_store(struct ooo *core, uint64_t number, const struct stream_uop *store) {
    const uint64_t size = store->access_count ? store->size_bytes : 0;
    core->store_ranges[number & core->store_range_mask] =
        (struct store_range){store->address, store->address + size};
    if (size == 0)
        return;
    const uint64_t last = (store->address + size - 1) >> GRANULE_SHIFT;
    for (uint64_t granule = store->address >> GRANULE_SHIFT; granule <= last; granule++)
        core->youngest_store[granule_slot(granule)] = number + 1;
}

struct store_met search_stores(const struct ooo *core, const struct stream_uop *load, uint64_t seen,
                               uint64_t number) {
    const uint64_t end = load->address + load->size_bytes;
    do {
        const struct store_range *store =
            &core->store_ranges[(number - 1) & core->store_range_mask];
        if (load->address < store->end && store->address < end)
            return (struct store_met){number - 1, load->access_count == 1 &&
                                                      store->address <= load->address &&
                                                      end <= store->end};
    } while (--number && seen - number < core->machine.store_queue);
    return (struct store_met){UNKNOWN, false};
}

/* The entries are in the order of their last use, the latest first. */
static bool predict_by_use(struct predicted_forward *entries, uint32_t most,
                           const struct predicted_forward *found) {
    uint32_t at = 0;
    while (at + 1 < most && (entries[at].insn != found->insn || !entries[at].stores_back))
        at++;
    const bool known =
        entries[at].insn == found->insn && entries[at].stores_back == found->stores_back;
    memmove(entries + 1, entries, at * sizeof *entries);
    entries[0] = *found;
    return known;
}

/* Each load has its entry, and shares it with others. */
static bool predict_by_load(struct predicted_forward *entries, uint32_t most,
                            const struct predicted_forward *found) {
    struct predicted_forward *entry = &entries[found->insn % most];
    const bool known = entry->insn == found->insn && entry->stores_back == found->stores_back;
    *entry = *found;
    return known;
}

bool predicts_forward(struct ooo *core, uint32_t insn, uint32_t stores_back) {
    const struct predicted_forward found = {insn, stores_back};
    const uint32_t most = core->machine.predicted_forwards;
    return most <= MOST_BY_USE ? predict_by_use(core->predicted, most, &found)
                               : predict_by_load(core->predicted, most, &found);
}

/* ---- the data of stores ---- */

uint64_t take_data_unit(struct ooo *core, uint64_t ready) {
    return take_slot(core, &core->data_unit, core->data_unit.units, 0, ready) + 1;
}

/* ---- stores leave the queue ---- */

/* Whether the store goes on in the block that was written to last. */
static bool is_open(const struct ooo *core, const struct store_entry *store) {
    return block_of(core, store->address) == core->drained_block;
}

enum { PIECE_SHIFT = 6, PIECE = 1 << PIECE_SHIFT, WORD = 4 };

/* Of a piece of 64 bytes the bytes that a store writes. */
static uint64_t bytes_in(const struct store_entry *store, uint64_t piece) {
    const uint64_t begin = piece << PIECE_SHIFT, from = later(store->address, begin) - begin;
    const uint64_t end = lesser(store->end, begin + PIECE) - begin;
    if (store->end <= begin || store->address >= begin + PIECE || end <= from)
        return 0;
    return (end - from == PIECE ? UINT64_MAX : (UINT64_C(1) << (end - from)) - 1) << from;
}

/* The words of which some bytes are in the set, and those of which all are. */
static void find_words(uint64_t bytes, uint32_t *some, uint32_t *all) {
    *some = *all = 0;
    for (uint32_t word = 0; word < PIECE / WORD; word++) {
        const uint64_t own = bytes >> WORD * word & 0xf;
        *some |= (uint32_t)(own != 0) << word;
        *all |= (uint32_t)(own == 0xf) << word;
    }
}

/* Bytes of a piece that the oldest store writes, with those behind it that are written with it. */
static uint64_t bytes_together(struct ooo *core, uint64_t piece) {
    const struct store_entry *first = store_at(core, core->drained);
    const uint64_t block = block_of(core, first->address);
    uint64_t bytes = bytes_in(first, piece);
    for (uint64_t next = core->drained + 1;
         next < core->committed_stores && next < core->drained + core->machine.store_drain;
         next++) {
        const struct store_entry *store = store_at(core, next);
        if (block_of(core, store->address) != block || store->commit > core->drain_due)
            break;
        bytes |= bytes_in(store, piece);
    }
    return bytes;
}

/* Words of a piece of which the oldest store, with those written with it, changes a part. */
static uint32_t parts_of_words(struct ooo *core, uint64_t piece) {
    uint32_t some, all;
    find_words(bytes_together(core, piece), &some, &all);
    return some & ~all;
}

uint64_t wait_for_words(struct ooo *core) {
    const struct store_entry *store = store_at(core, core->drained);
    const uint32_t recent = core->machine.partial_store_recent;
    const uint64_t first = store->address >> PIECE_SHIFT;
    const uint64_t last = store->end > store->address ? (store->end - 1) >> PIECE_SHIFT : first;
    if (is_open(core, store))
        return 0;
    for (uint32_t back = 0; back < WRITTEN; back++) {
        const struct written_words *written = &core->written[(core->written_last - back) % WRITTEN];
        const uint64_t piece = written->piece - 1;
        if (!written->piece || written->cycle + recent < core->drain_due)
            break;
        if ((piece == first || piece == last) && written->words & parts_of_words(core, piece))
            return core->machine.partial_store;
    }
    return 0;
}

/* A store's words are written in this cycle: with those before it, if they are of one block. */
static void note_words(struct ooo *core, const struct store_entry *store, bool open,
                       uint64_t cycle) {
    const uint64_t first = store->address >> PIECE_SHIFT;
    const uint64_t last = (store->end - 1) >> PIECE_SHIFT;
    for (uint64_t piece = first; piece <= last && piece < first + 2; piece++) {
        const uint64_t begin = piece << PIECE_SHIFT;
        const uint64_t from = (later(store->address, begin) - begin) / WORD;
        const uint64_t to = (lesser(store->end, begin + PIECE) - 1 - begin) / WORD;
        struct written_words *written = &core->written[core->written_last];
        if (!open || piece > first || written->piece != piece + 1) {
            core->written_last = (core->written_last + 1) % WRITTEN;
            written = &core->written[core->written_last];
            *written = (struct written_words){.piece = piece + 1};
        }
        written->words |= (2u << to) - (1u << from);
        written->cycle = cycle;
    }
}

/* The last block that a store lies in is written, and how many writes of a cycle have been made,
 * those of this store included; returns cycles that it took beyond one. Of several blocks each has
 * a cycle of its own; in two lines of one block, split_store more writes. */
static uint64_t write_more(struct ooo *core, const struct store_entry *store, uint64_t last_block) {
    const uint64_t blocks = last_block - block_of(core, store->address);
    const bool in_one = store->end <= store->address ||
                        store->address >> core->line_shift == (store->end - 1) >> core->line_shift;
    if (__builtin_expect(in_one && !blocks, 1))
        return 0;
    core->met_split = true;
    if (core->ideal & IDEAL_SPLIT || blocks)
        return core->ideal & IDEAL_SPLIT ? 0 : blocks;
    const uint32_t drain = core->machine.store_drain;
    const uint32_t writes = core->drained_in_cycle + core->machine.split_store;
    const uint32_t cycles = (writes - 1) / drain;
    core->drained_in_cycle = writes - cycles * drain;
    return cycles;
}

/* Writes a committed store to the cache, when an MSHR is free if it needs one. */
static void write_store(struct ooo *core, struct store_entry *store, uint64_t cycle) {
    const uint32_t size = (uint32_t)(store->end - store->address);
    uint64_t owned = cycle + 1;
    store->write_latency = 1;
    store->write_level = LEVEL_L1;
    store->coherent = false;
    store->fill = 0;
    if (size && !is_atomic(core, store->insn) && /* its address is in the trace */
        !memory_store_hits(core->memory, cycle, store->address, size, store->uop, store->insn)) {
        struct memory_result result;
        memory_store(core->memory, cycle, store->address, size, store->uop, store->insn, &result);
        while (result.retry) {
            cycle = result.retry;
            memory_store(core->memory, cycle, store->address, size, store->uop, store->insn,
                         &result);
        }
        const bool missed = result.events & (MEMORY_MISSED_L1 | MEMORY_COHERENCE);
        owned = later(cycle + 1, missed ? result.ready : 0);
        store->fill = low16(result.fill_cycles);
        store->write_level = result.level;
        store->coherent = result.events & MEMORY_COHERENCE;
        if (store->coherent) {
            core->awaited_line = store->address >> core->line_shift;
            core->awaited = owned;
        }
        if (store->fill || owned > core->last_release)
            store->write_latency = low16(owned - cycle);
    }
    const uint64_t last_block = block_of(core, store->address + later(size, 1) - 1);
    if (__builtin_expect(core->machine.partial_store && size, 0))
        note_words(core, store, is_open(core, store), cycle);
    core->drained_in_cycle = cycle > core->drain_cycle ? 1 : core->drained_in_cycle + 1;
    const uint64_t more = write_more(core, store, last_block);
    owned += more;
    store->write_latency = low16(store->write_latency + more);
    core->drain_cycle = cycle + more;
    core->drained_block = last_block;
    if (owned < core->last_release)
        store->coherent = core->last_coherent;
    core->last_coherent = store->coherent;
    store->release = core->last_release = later(owned, core->last_release);
}

bool drain_must_wait(struct ooo *core) {
    const struct store_entry *store = store_at(core, core->drained);
    const uint32_t size = (uint32_t)(store->end - store->address);
    return core->drain_due > core->others && size && !is_atomic(core, store->insn) &&
           !memory_may_store(core->memory, core->drain_due, store->address, size);
}

void drain_one(struct ooo *core) {
    struct store_entry *store = store_at(core, core->drained);
    write_store(core, store, core->drain_due);
    core->drained++;
    find_drain_due(core);
}

uint64_t release_of(struct ooo *core, uint64_t number) {
    if (core->end_of_time != UNKNOWN && number >= core->first_squashed_store)
        return core->end_of_time; /* or later: never seen */
    while (core->drained <= number)
        drain_one(core);
    return store_at(core, number)->release;
}

/* ---- loads ---- */

uint64_t wait_for_store(struct ooo *core, const struct store_met *met, uint64_t ready,
                        uint16_t *psv) {
    const uint32_t address_latency = core->classes[OP_LOAD].latency;
    if (forwards(core, met)) {
        const struct store_entry *store = store_at(core, met->number);
        const uint64_t complete = store->complete;
        const uint64_t early = complete > address_latency ? complete - address_latency : 0;
        return later(ready, later(early, store->known));
    }
    core->failed_forward = true;
    const uint64_t release = release_of(core, met->number);
    if (release <= ready)
        return ready;
    *psv |= PSV_ST_FW;
    return release + core->machine.failed_forward;
}

/* What the second access of a load that lies in two lines adds; 0 of others. */
static uint32_t split_latency(const struct ooo *core, const struct stream_uop *stream) {
    return stream->access_count == 1 && stream->flags & U_LONG &&
                   is_split_load(core, stream->address, stream->size_bytes)
               ? core->machine.split_load
               : 0;
}

uint64_t take_long_load(struct ooo *core, const struct stream_uop *stream, uint64_t ready) {
    struct unit unit = *unit_of(core, stream);
    if (split_latency(core, stream)) {
        unit.interval++;
        core->met_split = true;
    }
    const uint64_t issue = take_slots(core, &unit, false, ready);
    return unit.entries ? schedulers_leave(&core->schedulers, issue) : issue;
}

/* What is forwarded is not used before the line is there, if another core has it. */
static void await_line(struct ooo *core, uint64_t at, const struct unit *unit,
                       const struct stream_uop *stream, struct uop_cycles *uop) {
    struct memory_result result = {.retry = uop->issue};
    if (!memory_awaits(core->memory, uop->issue, stream->address))
        return;
    while (result.retry)
        memory_load(core->memory, result.retry, stream->address, stream->size_bytes, at,
                    stream->insn, &result);
    uop->psv |= signature_of(&result, true);
    uop->renamed = NULL; /* nor do those who read it */
    uop->complete = uop->wake = later(uop->complete, result.ready + unit->latency);
}

static void forward(struct ooo *core, uint64_t at, const struct unit *unit,
                    const struct stream_uop *stream, const struct store_met *met,
                    struct uop_cycles *uop, struct kept_life *kept) {
    const struct store_entry *store = store_at(core, met->number);
    const uint32_t address_latency = core->classes[OP_LOAD].latency;
    if (store->complete > uop->issue + address_latency) /* its data are not there: once more */
        uop->issue = take_unit(core, unit, later(store->complete - address_latency, store->known));
    const uint64_t start = later(store->complete, uop->issue + address_latency);
    uop->complete = uop->wake = start + forward_latency(core, met) + late_of(core, unit);
    if (core->machine.forward_awaits_line)
        await_line(core, at, unit, stream, uop);
    core->statistics.forwarded++;
    if (kept) {
        kept->store_back = (uint32_t)(at - store->uop);
        kept->l1_latency = low16(uop->complete - uop->issue);
    }
}

/* The accesses that a load has made. When it comes back with an MSHR for the next one, it keeps
 * what these read: a small cache may have lost their lines again. */
struct accesses_made {
    uint32_t count;
    uint64_t ready;            /* all of them */
    struct memory_result last; /* of the one that it waits for longest */
};

static const struct accesses_made NONE_MADE = {.last.bringer = UNKNOWN};

/* All its accesses but those made, at uop->issue. Returns the cycle at which to ask again for want
 * of an MSHR, or 0. */
static uint64_t access_memory(struct ooo *core, uint64_t at, const struct stream_uop *stream,
                              struct uop_cycles *uop, struct accesses_made *made,
                              struct kept_life *kept) {
    const uint64_t cycle = uop->issue, hit = cycle + core->l1d_latency;
    const uint32_t split = core->ideal & IDEAL_DL1 ? 0 : split_latency(core, stream);
    const uint32_t latency = unit_of(core, stream)->wake + split; /* of a hit */
    struct memory_result last = made->last;
    uint64_t ready = later(hit, made->ready);
    for (uint32_t i = made->count; i < stream->access_count; i++) {
        const struct memory_access *access =
            &core->gathers[(stream->access + i) & core->gather_mask];
        const uint64_t address = i ? access->address : stream->address;
        const uint32_t size = i ? access->size_bytes : stream->size_bytes;
        struct memory_result result;
        if (stream->flags & U_PREFETCH) {
            memory_prefetch(core->memory, cycle, address, at, stream->insn);
            continue;
        }
        if (is_atomic(core, stream->insn))
            memory_load_own(core->memory, cycle, address, size, at, stream->insn, &result);
        else
            memory_load(core->memory, cycle, address, size, at, stream->insn, &result);
        if (result.retry) {
            *made = (struct accesses_made){i, ready, last};
            return result.retry;
        }
        uop->psv |= signature_of(&result, true);
        if (result.ready > ready || last.bringer == UNKNOWN)
            last = result;
        ready = later(ready, result.ready);
    }
    const uint64_t beyond_l1 = ready - hit;
    uop->complete = uop->wake = cycle + latency + beyond_l1;
    if (kept) {
        kept->brought_by = last.bringer + 1;
        kept->memory_level = last.level;
        kept->memory_events = last.events;
        kept->l1_latency = low16(latency);
        kept->miss_latency = (uint32_t)beyond_l1;
        kept->walk_latency = low16(lesser(last.tlb_cycles, beyond_l1));
        kept->fill = low16(last.fill_cycles);
        kept->dram_wait = (uint16_t)lesser(last.dram_wait, beyond_l1);
    }
    return 0;
}

/* A load that has read from a line which another core takes before it commits has to read again
 * (Gharachorloo, Gupta and Hennessy 1991): found out at the head. */
static void check_loss(struct ooo *core, uint64_t at, const struct stream_uop *stream,
                       struct uop_cycles *uop) {
    const uint64_t place = place_of(core, at);
    const uint64_t done = uop->complete + core->machine.complete_to_commit;
    const uint64_t commit =
        later(later(done, core->commit[place - 1]), core->earlier.commit[place] + 1);
    const uint64_t lost = memory_loses(core->memory, uop->issue, uop->dispatch, stream->address);
    if (lost > commit || stream->flags & (U_PREFETCH | U_WAIT_HEAD) || !stream->access_count)
        return;
    uop->violated = true;
    uop->passed_store = UNKNOWN;
    uop->lost = lost;
}

void execute_waiting_load(struct ooo *core, uint64_t at, const struct stream_uop *stream,
                          const struct store_met *met, struct uop_cycles *uop,
                          struct kept_life *kept) {
    const struct unit *unit = unit_of(core, stream);
    struct accesses_made made = NONE_MADE;
    for (;;) {
        const bool meets = met->number != UNKNOWN && in_queue(core, met->number, uop->issue);
        const bool passes = meets && store_at(core, met->number)->issue > uop->issue;
        if (meets && !passes && forwards(core, met)) {
            forward(core, at, unit, stream, met, uop, kept);
            if (core->machine.forward_awaits_line)
                check_loss(core, at, stream, uop);
            return;
        }
        if (meets && !passes) { /* until the cache has it */
            core->failed_forward = true;
            const uint64_t free = release_of(core, met->number) + core->machine.failed_forward;
            uop->issue = take_unit(core, unit, later(free, uop->issue)); /* not before a retry */
            uop->psv |= PSV_ST_FW;
        }
        const uint64_t retry = access_memory(core, at, stream, uop, &made, kept);
        if (!retry) {
            uop->violated = passes;
            uop->passed_store = met->number;
            uop->lost = 0;
            if (!passes && core->one_of_several)
                check_loss(core, at, stream, uop);
            return;
        }
        if (kept)
            kept->mshr_wait += (uint32_t)(retry - uop->issue);
        if (passes)
            made = NONE_MADE; /* the store may have written there by then */
        uop->issue = take_unit(core, unit, retry);
    }
}
