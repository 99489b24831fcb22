#include "memory/coherence.h"

#include "util/counters.h"

/* ---- the caches of one core ---- */

enum copy { COPY_NONE, COPY_CLEAN, COPY_DIRTY };

static enum copy copy_in(struct cache *cache, uint64_t line) {
    const size_t index = cache->tags ? cache_find(cache, line) : CACHE_NONE;
    if (index == CACHE_NONE)
        return COPY_NONE;
    return cache->tags[index] & TAG_DIRTY ? COPY_DIRTY : COPY_CLEAN;
}

static enum copy copy_of(struct memory *memory, uint64_t line) {
    const enum copy l1i = copy_in(&memory->l1i, line), l1d = copy_in(&memory->l1d, line),
                    l2 = copy_in(&memory->l2, line);
    const enum copy data = l1d > l2 ? l1d : l2;
    return data > l1i ? data : l1i;
}

static void drop_from(struct cache *cache, uint64_t line) {
    const size_t index = cache->tags ? cache_find(cache, line) : CACHE_NONE;
    if (index != CACHE_NONE)
        cache_drop(cache, index);
}

/* Of a request that takes so long until it is answered. */
static uint32_t on_its_way(const struct shared_memory *shared, uint32_t cycles) {
    const uint32_t latency = shared->request_latency;
    return !latency ? cycles / 2 : latency < cycles ? latency : cycles;
}

/* The core has the line until this cycle. `cycles`: that the request takes. */
static void note_loss(struct memory *memory, uint64_t line, uint64_t until, bool owned,
                      uint32_t cycles, const struct request *request) {
    struct cache *l1d = &memory->l1d;
    const size_t index = cache_find(l1d, line);
    const struct flight *flight =
        index != CACHE_NONE ? cache_flight(l1d, index, memory->now) : NULL;
    *lost_place(memory->lost, line, l1d->line_shift) =
        (struct lost_line){.line = line,
                           .gained = flight ? flight->ready : 0,
                           .until = until,
                           .known = request->cycle + on_its_way(memory->shared, cycles),
                           .owned = owned};
}

static void drop(struct memory *memory, uint64_t line) {
    drop_from(&memory->l1i, line);
    drop_from(&memory->l1d, line);
    drop_from(&memory->l2, line);
}

static void clean_in(struct cache *cache, uint64_t line) {
    const size_t index = cache->tags ? cache_find(cache, line) : CACHE_NONE;
    if (index == CACHE_NONE)
        return;
    cache->tags[index] &= ~(uint64_t)TAG_DIRTY;
    cache_note_change(cache, index);
}

/* What the core had modified is at the shared level, or in DRAM. */
static void clean(struct memory *memory, uint64_t line, const struct request *request) {
    struct cache *last = memory->l2.tags ? &memory->l2 : &memory->l1d;
    clean_in(&memory->l1d, line);
    clean_in(&memory->l2, line);
    level_write_back(memory, last, line, request);
}

/* ---- entries ---- */

static uint64_t bit(const struct memory *memory) {
    return UINT64_C(1) << memory->core;
}

/* Other cores that have the line; the entry forgets those that have it no more. */
static uint64_t others(const struct shared_memory *shared, struct directory_entry *entry,
                       uint64_t line, uint64_t core) {
    for (uint64_t left = entry->holders & ~core; left; left &= left - 1) {
        const unsigned other = (unsigned)__builtin_ctzll(left);
        if (copy_of(shared->cores[other], line) == COPY_NONE)
            entry->holders &= ~(UINT64_C(1) << other);
    }
    return entry->holders & ~core;
}

/* These cores lose their copies: to others, whose request arrives in cycle `until`. */
static void lose(struct shared_memory *shared, uint64_t cores, uint64_t line, uint64_t until,
                 bool owned, uint32_t cycles, const struct request *request) {
    for (; cores; cores &= cores - 1) {
        const unsigned core = (unsigned)__builtin_ctzll(cores);
        note_loss(shared->cores[core], line, until, owned, cycles, request);
        drop(shared->cores[core], line);
        shared->statistics[core].invalidations += !request->functional;
    }
}

/* They lose them because the directory needs the entry. */
static void evict(struct shared_memory *shared, uint64_t cores, uint64_t line,
                  const struct request *request) {
    for (; cores; cores &= cores - 1) {
        const unsigned core = (unsigned)__builtin_ctzll(cores);
        drop(shared->cores[core], line);
        shared->statistics[core].evictions += !request->functional;
    }
}

/* Makes room: an empty entry, one that nobody has any more, else the one used least recently, whose
 * line goes from all cores. */
static struct directory_entry *make_room(struct memory *memory, uint64_t line,
                                         const struct request *request) {
    struct shared_memory *shared = memory->shared;
    struct directory_entry *set = directory_set(&shared->directory, line), *choice = set;
    for (unsigned way = 0; way < DIRECTORY_WAYS; way++)
        if (!set[way].line)
            return &set[way];
    for (unsigned way = 0; way < DIRECTORY_WAYS; way++) {
        if (!others(shared, &set[way], entry_line(&set[way]), 0))
            return &set[way];
        choice = set[way].used < choice->used ? &set[way] : choice;
    }
    const uint64_t victim = entry_line(choice);
    for (uint64_t left = choice->holders; left; left &= left - 1) {
        struct memory *holder = shared->cores[__builtin_ctzll(left)];
        if (copy_of(holder, victim) == COPY_DIRTY)
            clean(holder, victim, request);
    }
    evict(shared, choice->holders, victim, request);
    return choice;
}

static struct directory_entry *entry_of(struct memory *memory, uint64_t line,
                                        const struct request *request) {
    struct directory *directory = &memory->shared->directory;
    struct directory_entry *entry = directory_find(directory, line);
    if (entry)
        return entry;
    entry = make_room(memory, line, request);
    *entry = (struct directory_entry){.line = line | ENTRY_VALID};
    directory_use(directory, entry);
    return entry;
}

/* Its transfer is over in that cycle; warming takes no time. */
static void hold_until(struct directory_entry *entry, uint64_t cycle,
                       const struct request *request) {
    if (!request->functional)
        entry->free = cycle;
}

static void give(struct directory_entry *entry, uint64_t core, uint64_t ready,
                 const struct request *request) {
    entry->line |= ENTRY_OWNED;
    entry->holders = core;
    hold_until(entry, ready + (request->atomic ? ATOMIC_CYCLES : 0), request);
}

static void tell(const struct memory *memory, enum coherence_kind kind, uint64_t from,
                 const struct request *request, uint64_t ready) {
    const struct coherence_watch *watch = &memory->shared->watch;
    const struct coherence_event event = {.kind = (uint8_t)kind,
                                          .own = request->own,
                                          .core = memory->core,
                                          .from = from,
                                          .address = request->address,
                                          .insn = request->insn,
                                          .cycle = request->asked,
                                          .cycles = ready - request->asked};
    if (watch->see && !request->unseen && !request->functional)
        watch->see(watch->context, &event);
}

/* The cycle in which the directory takes the request. */
static uint64_t taken(struct coherence_statistics *statistics, const struct directory_entry *entry,
                      const struct request *request) {
    if (entry->free <= request->cycle || request->functional)
        return request->cycle;
    statistics->wait_cycles += entry->free - request->cycle;
    return entry->free;
}

/* When a request that was taken in `begin`, and takes so long, is done. */
static uint64_t done(uint64_t begin, uint32_t cycles, const struct request *request) {
    return request->functional ? begin : begin + cycles;
}

/* ---- requests ---- */

/* What the shared level, or DRAM, says. */
static void read_memory(struct memory *memory, struct cache *last, const struct request *request,
                        struct answer *answer) {
    struct shared_memory *shared = memory->shared;
    const struct cache_statistics before = shared->last.statistics;
    const uint64_t reads = shared->dram.reads, row_hits = shared->dram.row_hits;
    if (last->next)
        level_read(memory, last->next, request, answer);
    else if (!request->functional)
        level_read_dram(memory, last, request, answer);
    struct cache *counted = shared->last.level == LEVEL_L2 ? &memory->l2 : &memory->llc;
    counters_add(&counted->statistics, &shared->last.statistics, &before, sizeof before, 1);
    memory->own_dram.reads += shared->dram.reads - reads;
    memory->own_dram.row_hits += shared->dram.row_hits - row_hits;
}

/* When a request that takes so long is with who has the line; of warming, which is outside of time,
 * 0: the line has not been there. */
static uint64_t arrival(const struct shared_memory *shared, uint64_t begin, uint32_t cycles,
                        const struct request *request) {
    return request->functional ? 0 : begin + on_its_way(shared, cycles);
}

/* From the core that owns the line. */
static void transfer(struct memory *memory, struct cache *last, struct directory_entry *entry,
                     uint64_t line, uint64_t owner, const struct request *request,
                     struct answer *answer) {
    struct shared_memory *shared = memory->shared;
    struct coherence_statistics *statistics = &shared->statistics[memory->core];
    struct memory *from = shared->cores[__builtin_ctzll(owner)];
    const bool modified = copy_of(from, line) == COPY_DIRTY;
    const uint32_t cycles = modified ? shared->modified_transfer : shared->clean_transfer;
    const uint64_t begin = taken(statistics, entry, request);
    const uint64_t ready = done(begin, cycles, request),
                   lost = arrival(shared, begin, cycles, request);
    *answer = (struct answer){.ready = ready,
                              .fetched_by = request->sequence,
                              .level = LEVEL_LLC,
                              .coherent = true,
                              .soonest = entry->free + cycles};
    statistics->modified_transfers += modified && !request->functional;
    statistics->clean_transfers += !modified && !request->functional;
    if (request->own || (modified && shared->migratory)) {
        if (!request->own)
            level_write_back(memory, last, line, request);
        lose(shared, owner, line, lost, true, cycles, request);
        give(entry, bit(memory), ready, request);
    } else {
        note_loss(from, line, lost, true, cycles, request); /* of what it may do with it */
        if (modified)
            clean(from, line, request);
        entry->line &= ~(uint64_t)ENTRY_OWNED;
        entry->holders |= bit(memory);
        hold_until(entry, ready, request);
    }
    tell(memory, modified ? COHERENCE_MODIFIED : COHERENCE_CLEAN, owner, request, ready);
}

/* To write a line that others have in S; the answer is what memory says. */
static void invalidate(struct memory *memory, struct directory_entry *entry, uint64_t line,
                       uint64_t holders, const struct request *request, struct answer *answer) {
    struct shared_memory *shared = memory->shared;
    struct coherence_statistics *statistics = &shared->statistics[memory->core];
    const uint64_t begin = taken(statistics, entry, request);
    const uint64_t ready = done(begin, shared->upgrade, request);
    const uint64_t soonest = entry->free + shared->upgrade;
    answer->ready = answer->ready > ready ? answer->ready : ready;
    answer->soonest = answer->soonest > soonest ? answer->soonest : soonest;
    answer->coherent = true;
    statistics->upgrades += !request->functional;
    lose(shared, holders, line, arrival(shared, begin, shared->upgrade, request), false,
         shared->upgrade, request);
    give(entry, bit(memory), answer->ready, request);
    tell(memory, COHERENCE_UPGRADE, holders, request, answer->ready);
}

void coherent_read(struct memory *memory, struct cache *last, const struct request *request,
                   struct answer *answer) {
    struct shared_memory *shared = memory->shared;
    const uint64_t line = request->address & ~last->line_mask, core = bit(memory);
    struct directory_entry *entry = entry_of(memory, line, request);
    const uint64_t holders = others(shared, entry, line, core);
    if (holders && entry->line & ENTRY_OWNED) {
        transfer(memory, last, entry, line, holders, request, answer);
        return;
    }
    read_memory(memory, last, request, answer);
    if (holders && request->own) {
        invalidate(memory, entry, line, holders, request, answer);
    } else if (holders) {
        entry->holders |= core;
    } else {
        give(entry, core, answer->ready, request);
    }
}

bool coherent_had(struct memory *memory, struct cache *l1, const struct request *request,
                  struct answer *answer) {
    const uint64_t line = request->address & ~l1->line_mask;
    const struct lost_line *lost =
        lost_find(memory->lost, line, l1->line_shift, request->cycle, request->own);
    if (!lost || !request->data || request->functional)
        return false;
    const uint64_t hit = request->cycle + l1->latency;
    l1->statistics.accesses++;
    *answer = (struct answer){.ready = hit, .fetched_by = UINT64_MAX, .level = LEVEL_L1};
    if (lost->gained > hit) {
        l1->statistics.pending_hits++;
        *answer = (struct answer){.ready = lost->gained,
                                  .fetched_by = UINT64_MAX,
                                  .level = LEVEL_LLC,
                                  .pending = true,
                                  .coherent = true};
    }
    return true;
}

bool coherent_owns(struct memory *memory, uint64_t line) {
    const struct directory_entry *entry =
        memory->shared ? directory_find(&memory->shared->directory, line) : NULL;
    return entry && entry->line & ENTRY_OWNED && entry->holders == bit(memory);
}

void coherent_own(struct memory *memory, const struct request *request, struct answer *answer) {
    const uint64_t line = request->address & ~(uint64_t)(memory->shared->line_bytes - 1);
    struct directory_entry *entry = entry_of(memory, line, request);
    if (entry->line & ENTRY_OWNED && entry->holders == bit(memory)) {
        if (request->atomic && entry->free < answer->ready + ATOMIC_CYCLES)
            entry->free = answer->ready + ATOMIC_CYCLES;
        return;
    }
    invalidate(memory, entry, line, others(memory->shared, entry, line, bit(memory)), request,
               answer);
}
