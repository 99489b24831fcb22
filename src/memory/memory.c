/* Accesses. Handles hits; everything else goes through hierarchy.c.
 *
 * A settled hit is an access within one line that is in the L1, not in flight and not prefetched
 * since its last use, on a page whose translation is at hand: it changes only the order of use. All
 * other accesses are cut into lines; each is translated, then read through its L1. */
#include "memory/memory.h"

#include "memory/coherence.h"

/* Sets the cycle of an access. Unless accesses come in program order, none to come is earlier. */
static void set_now(struct memory *memory, uint64_t cycle) {
    if (!memory->in_program_order)
        memory->now = memory->dram->now = cycle;
}

void memory_in_program_order(struct memory *memory) {
    struct holds *holds[] = {&memory->l1i.mshr_holds, &memory->l1d.mshr_holds,
                             &memory->l2.mshr_holds,  &memory->llc.mshr_holds,
                             &memory->dram->slots,    &memory->walker.busy};
    memory->in_program_order = true;
    for (unsigned i = 0; i < sizeof holds / sizeof *holds; i++)
        holds[i]->any_order = true;
}

void memory_advance(struct memory *memory, uint64_t cycle) {
    if (!memory->shared) /* there, other cores may be behind: shared_memory_advance() */
        memory->now = memory->dram->now = cycle;
}

/* A settled line that is not where its hint says. All ways are looked at, as which it is cannot be
 * foreseen. */
static __attribute__((noinline)) size_t search_settled(struct cache *cache, uint64_t address,
                                                       uint64_t wanted) {
    const size_t set = cache_set(cache, address);
    const uint64_t *tags = cache->tags + set;
    const uint32_t ways = cache->ways;
    uint32_t found = ways;
    for (uint32_t way = 0; way < ways; way++)
        found = (tags[way] & ~(uint64_t)TAG_DIRTY) == wanted ? way : found;
    if (found == ways)
        return CACHE_NONE;
    *cache_hint(cache, address) = (uint8_t)found;
    return set + found;
}

/* Index of the line of a settled hit, its use noted; else CACHE_NONE, and nothing changed. */
static inline size_t settled_hit(struct cache *cache, struct tlb *tlb, uint64_t cycle,
                                 uint64_t address, uint64_t size_bytes) {
    if ((address & cache->line_mask) + size_bytes - 1 > cache->line_mask)
        return CACHE_NONE;
    const uint64_t wanted = (address & ~cache->line_mask) | TAG_VALID;
    size_t index = cache_set(cache, address) + *cache_hint(cache, address);
    if ((cache->tags[index] & ~(uint64_t)TAG_DIRTY) != wanted)
        index = search_settled(cache, address, wanted);
    if (index == CACHE_NONE || !tlb_quick_hit(tlb, address, cycle))
        return CACHE_NONE;
    cache_touch(cache, index);
    return index;
}

static inline void l1_hit(struct cache *cache, struct tlb *tlb, uint64_t cycle, uint64_t fetched_by,
                          struct memory_result *result) {
    cache->statistics.accesses++;
    tlb->accesses++;
    *result = (struct memory_result){
        .ready = cycle + cache->latency, .bringer = fetched_by, .level = LEVEL_L1};
}

static uint32_t fill_cycles(const struct memory *memory, const struct answer *answer) {
    const uint64_t cycles =
        (answer->share * memory->mshrs[answer->level] + FILL_UNITS / 2) / FILL_UNITS;
    return cycles < UINT32_MAX / 2 ? (uint32_t)cycles : UINT32_MAX / 2;
}

/* Before the first store to a page the kernel clears it, or copies what is there, and leaves its
 * lines in the L1D: this core's, as those of a page that no other has. */
static __attribute__((noinline)) void clear_page(struct memory *memory, uint64_t address) {
    const uint64_t page = address >> memory->page_shift;
    if (!page_set_add(&memory->stored, page))
        return;
    struct request request = {.asked = UINT64_MAX, /* hurries no line that is on its way */
                              .cycle = memory->now,
                              .sequence = UINT64_MAX,
                              .insn = NO_INSN,
                              .data = true,
                              .store = true,
                              .own = true,
                              .functional = true,
                              .unseen = true};
    const uint64_t line_bytes = memory->l1d.line_mask + 1;
    for (uint64_t line = 0; line < memory->page_size; line += line_bytes) {
        struct answer answer;
        request.address = page * memory->page_size + line;
        level_read(memory, &memory->l1d, &request, &answer);
    }
}

static inline bool may_be_cleared(const struct memory *memory, uint64_t address) {
    return memory->clears_pages && !page_set_knows(&memory->stored, address >> memory->page_shift);
}

/* Before a store to this address. */
static inline void meet_store(struct memory *memory, uint64_t address) {
    if (may_be_cleared(memory, address))
        clear_page(memory, address);
}

/* One line of an access, translated and read. */
static void read_line(struct memory *memory, struct cache *l1, struct tlb *tlb,
                      const struct request *access, struct memory_result *result) {
    bool missed_tlb;
    struct answer answer;
    struct request request = *access;
    request.asked = access->cycle;
    result->tlb_cycles =
        translate(memory, tlb, request.cycle, request.address, request.functional, &missed_tlb);
    if (request.store)
        meet_store(memory, request.address);
    tlb->accesses += !request.functional;
    request.cycle += result->tlb_cycles;
    request.translation = result->tlb_cycles;
    if (!memory->lost || !coherent_had(memory, l1, &request, &answer)) {
        level_read(memory, l1, &request, &answer);
        if (request.own && memory->shared)
            coherent_own(memory, &request, &answer);
    }
    result->ready = answer.ready;
    result->retry = 0;
    result->bringer = answer.fetched_by;
    result->level = answer.level;
    result->dram_wait = answer.dram_wait;
    result->fill_cycles = fill_cycles(memory, &answer);
    result->events =
        (uint8_t)((answer.level != LEVEL_L1 ? MEMORY_MISSED_L1 : 0) |
                  (answer.level == LEVEL_DRAM ? MEMORY_MISSED_LLC : 0) |
                  (missed_tlb ? MEMORY_MISSED_TLB : 0) | (answer.pending ? MEMORY_PENDING_HIT : 0) |
                  (answer.prefetched ? MEMORY_PREFETCHED : 0) |
                  (answer.coherent ? MEMORY_COHERENCE : 0));
}

/* True when the L1D lacks the MSHRs for the lines of an access that it does not have. One that
 * needs more than there are waits until all are free. */
static bool lacks_mshrs(const struct cache *l1d, uint64_t cycle, uint64_t address, uint32_t lines) {
    const uint32_t free_mshrs = holds_free_at(&l1d->mshr_holds, cycle, lines);
    if (free_mshrs == lines || free_mshrs == l1d->mshrs)
        return false;
    uint32_t needed = 0;
    for (uint32_t line = 0; line < lines; line++)
        needed += cache_find(l1d, nth_line(l1d, address, line)) == CACHE_NONE;
    return free_mshrs < (needed < l1d->mshrs ? needed : l1d->mshrs);
}

static void data_access(struct memory *memory, const struct request *access, uint32_t size_bytes,
                        struct memory_result *result) {
    struct cache *l1d = &memory->l1d;
    if (memory->ideal & MEMORY_IDEAL_DATA) {
        l1_hit(l1d, &memory->dtlb, access->cycle, UINT64_MAX, result);
        return;
    }
    const uint32_t lines = lines_of(l1d, access->address, size_bytes);
    set_now(memory, access->cycle);
    if (lacks_mshrs(l1d, access->cycle, access->address, lines)) {
        l1d->statistics.mshr_waits++;
        *result = (struct memory_result){.retry = holds_next_end(&l1d->mshr_holds, access->cycle),
                                         .bringer = UINT64_MAX};
        return;
    }
    read_line(memory, l1d, &memory->dtlb, access, result);
    for (uint32_t line = 1; line < lines; line++) {
        struct memory_result part;
        struct request request = *access;
        request.address = nth_line(l1d, access->address, line);
        read_line(memory, l1d, &memory->dtlb, &request, &part);
        part.events |= result->events | MEMORY_SPLIT;
        if (part.ready >= result->ready)
            *result = part;
        else
            result->events = part.events;
    }
}

/* A hit that the prefetcher learns from too. */
static __attribute__((noinline)) void train(struct memory *memory, const struct request *access) {
    set_now(memory, access->cycle);
    level_prefetch(memory, &memory->l1d, access, false, false);
}

/* A core among several may write what it has dirty; all else the directory is asked for. */
static inline bool may_write(const struct memory *memory, size_t index) {
    return !memory->shared || memory->l1d.tags[index] & TAG_DIRTY;
}

/* A load or store. */
static void read_data(struct memory *memory, const struct request *access, uint32_t size_bytes,
                      struct memory_result *result) {
    struct cache *l1d = &memory->l1d;
    size_t index = CACHE_NONE;
    if (!(memory->ideal & MEMORY_IDEAL_DATA)) {
        if (access->store)
            meet_store(memory, access->address);
        index = settled_hit(l1d, &memory->dtlb, access->cycle, access->address, size_bytes);
    }
    if (index == CACHE_NONE || (access->own && !may_write(memory, index))) {
        data_access(memory, access, size_bytes, result);
        return;
    }
    if (access->store)
        l1d->tags[index] |= TAG_DIRTY;
    l1_hit(l1d, &memory->dtlb, access->cycle, cache_fetched_by(l1d, index), result);
    if (l1d->trains_on_hits)
        train(memory, access);
}

static struct request data_request(uint64_t cycle, uint64_t address, uint64_t sequence,
                                   uint32_t insn, bool store) {
    return (struct request){.asked = cycle,
                            .cycle = cycle,
                            .address = address,
                            .sequence = sequence,
                            .insn = insn,
                            .data = true,
                            .store = store,
                            .own = store};
}

void memory_load(struct memory *memory, uint64_t cycle, uint64_t address, uint32_t size_bytes,
                 uint64_t sequence, uint32_t insn, struct memory_result *result) {
    const struct request access = data_request(cycle, address, sequence, insn, false);
    read_data(memory, &access, size_bytes, result);
}

void memory_load_own(struct memory *memory, uint64_t cycle, uint64_t address, uint32_t size_bytes,
                     uint64_t sequence, uint32_t insn, struct memory_result *result) {
    struct request access = data_request(cycle, address, sequence, insn, true);
    access.atomic = true;
    read_data(memory, &access, size_bytes, result);
}

bool memory_awaits(struct memory *memory, uint64_t cycle, uint64_t address) {
    struct cache *l1d = &memory->l1d;
    const uint64_t line = address & ~l1d->line_mask;
    if (!memory->lost)
        return false;
    const struct lost_line *lost = lost_place(memory->lost, line, l1d->line_shift);
    if (lost->line != line || cycle < lost->until)
        return false;
    const size_t index = cache_find(l1d, line);
    const struct flight *flight =
        index == CACHE_NONE ? NULL : cache_flight(l1d, index, memory->now);
    return index == CACHE_NONE || (flight && flight->ready > cycle);
}

uint64_t memory_loses(struct memory *memory, uint64_t cycle, uint64_t dispatch, uint64_t address) {
    const uint64_t line = address & ~memory->l1d.line_mask;
    if (!memory->lost)
        return UINT64_MAX;
    const struct lost_line *lost =
        lost_find(memory->lost, line, memory->l1d.line_shift, cycle, false);
    return lost && lost->known <= dispatch ? lost->until : UINT64_MAX;
}

bool memory_may_store(struct memory *memory, uint64_t cycle, uint64_t address,
                      uint32_t size_bytes) {
    const struct cache *l1d = &memory->l1d;
    const uint32_t lines = memory->lost ? lines_of(l1d, address, size_bytes) : 0;
    for (uint32_t i = 0; i < lines; i++) {
        const uint64_t line = nth_line(l1d, address, i) & ~l1d->line_mask;
        if (!coherent_owns(memory, line) &&
            !lost_find(memory->lost, line, l1d->line_shift, cycle, true))
            return false;
    }
    return true;
}

void memory_store(struct memory *memory, uint64_t cycle, uint64_t address, uint32_t size_bytes,
                  uint64_t sequence, uint32_t insn, struct memory_result *result) {
    const struct request access = data_request(cycle, address, sequence, insn, true);
    read_data(memory, &access, size_bytes, result);
}

void memory_fetch(struct memory *memory, uint64_t cycle, uint64_t address, uint64_t sequence,
                  struct memory_result *result) {
    struct cache *l1i = &memory->l1i;
    if (memory->ideal & MEMORY_IDEAL_FETCH) {
        l1_hit(l1i, &memory->itlb, cycle, UINT64_MAX, result);
        return;
    }
    const size_t index = settled_hit(l1i, &memory->itlb, cycle, address, 1);
    if (index != CACHE_NONE) {
        l1_hit(l1i, &memory->itlb, cycle, cache_fetched_by(l1i, index), result);
        return;
    }
    const struct request access = {
        .cycle = cycle, .address = address, .sequence = sequence, .insn = NO_INSN};
    set_now(memory, cycle);
    read_line(memory, l1i, &memory->itlb, &access, result);
}

/* ---- in short, for those who only ask whether it was a settled hit ---- */

/* Index as settled_hit(), counted. */
static inline size_t data_hit(struct memory *memory, uint64_t cycle, uint64_t address,
                              uint32_t size_bytes, bool store) {
    if (memory->ideal & MEMORY_IDEAL_DATA)
        return CACHE_NONE;
    if (store)
        meet_store(memory, address);
    size_t index = settled_hit(&memory->l1d, &memory->dtlb, cycle, address, size_bytes);
    if (store && index != CACHE_NONE && !may_write(memory, index))
        index = CACHE_NONE;
    const bool hit = index != CACHE_NONE;
    memory->l1d.statistics.accesses += hit;
    memory->dtlb.accesses += hit;
    return index;
}

bool memory_load_hits(struct memory *memory, uint64_t cycle, uint64_t address, uint32_t size_bytes,
                      uint64_t sequence, uint32_t insn, uint64_t *bringer) {
    const size_t index = data_hit(memory, cycle, address, size_bytes, false);
    if (index == CACHE_NONE)
        return false;
    if (bringer)
        *bringer = cache_fetched_by(&memory->l1d, index);
    if (memory->l1d.trains_on_hits) {
        const struct request access = data_request(cycle, address, sequence, insn, false);
        train(memory, &access);
    }
    return true;
}

bool memory_store_hits(struct memory *memory, uint64_t cycle, uint64_t address, uint32_t size_bytes,
                       uint64_t sequence, uint32_t insn) {
    const size_t index = data_hit(memory, cycle, address, size_bytes, true);
    if (index == CACHE_NONE)
        return false;
    memory->l1d.tags[index] |= TAG_DIRTY;
    if (memory->l1d.trains_on_hits) {
        const struct request access = data_request(cycle, address, sequence, insn, false);
        train(memory, &access);
    }
    return true;
}

bool memory_fetch_hits(struct memory *memory, uint64_t cycle, uint64_t address) {
    if (memory->ideal & MEMORY_IDEAL_FETCH ||
        settled_hit(&memory->l1i, &memory->itlb, cycle, address, 1) == CACHE_NONE)
        return false;
    memory->l1i.statistics.accesses++;
    memory->itlb.accesses++;
    return true;
}

bool memory_translates(struct memory *memory, uint64_t cycle, uint64_t address) {
    if (memory->ideal & MEMORY_IDEAL_DATA)
        return true;
    set_now(memory, cycle);
    return !may_be_cleared(memory, address) && tlb_quick_hit(&memory->dtlb, address, cycle);
}

void memory_translate(struct memory *memory, uint64_t cycle, uint64_t address,
                      struct memory_result *result) {
    *result = (struct memory_result){.ready = cycle, .bringer = UINT64_MAX, .level = LEVEL_L1};
    if (memory->ideal & MEMORY_IDEAL_DATA)
        return;
    bool missed_tlb;
    set_now(memory, cycle);
    result->tlb_cycles = translate(memory, &memory->dtlb, cycle, address, false, &missed_tlb);
    meet_store(memory, address);
    result->ready += result->tlb_cycles;
    result->events = missed_tlb ? MEMORY_MISSED_TLB : 0;
}

uint64_t memory_prefetch(struct memory *memory, uint64_t cycle, uint64_t address, uint64_t sequence,
                         uint32_t insn) {
    struct cache *l1d = &memory->l1d;
    if (memory->ideal & MEMORY_IDEAL_DATA)
        return cycle + l1d->latency;
    set_now(memory, cycle);
    const size_t index = cache_find(l1d, address);
    if (index != CACHE_NONE) {
        const struct flight *flight = cache_flight(l1d, index, memory->now);
        cache_touch(l1d, index);
        return flight && flight->ready > cycle ? flight->ready : cycle + l1d->latency;
    }
    if (holds_free_at(&l1d->mshr_holds, cycle, 1) == 0)
        return UINT64_MAX;
    bool missed_tlb;
    const uint32_t tlb_cycles =
        translate(memory, &memory->dtlb, cycle, address, false, &missed_tlb);
    const struct request prefetch = {.asked = cycle,
                                     .cycle = cycle + tlb_cycles,
                                     .address = address,
                                     .sequence = sequence,
                                     .insn = insn,
                                     .data = true,
                                     .prefetch = true};
    struct answer answer;
    memory->dtlb.accesses++;
    l1d->statistics.prefetches++;
    level_fill(memory, l1d, &prefetch, &answer);
    return answer.ready;
}

void memory_warm_load(struct memory *memory, uint64_t address, uint32_t size_bytes, uint32_t insn,
                      bool store) {
    struct cache *l1d = &memory->l1d;
    struct request access = {.cycle = memory->now,
                             .address = address,
                             .sequence = UINT64_MAX,
                             .insn = insn,
                             .data = true,
                             .store = store,
                             .own = store,
                             .functional = true};
    struct memory_result result;
    if (store)
        meet_store(memory, address);
    const size_t index = settled_hit(l1d, &memory->dtlb, memory->now, address, size_bytes);
    if (index != CACHE_NONE && (!store || may_write(memory, index))) {
        if (store)
            l1d->tags[index] |= TAG_DIRTY;
        if (l1d->trains_on_hits)
            level_prefetch(memory, l1d, &access, false, false);
        return;
    }
    const uint32_t lines = lines_of(l1d, address, size_bytes);
    for (uint32_t line = 0; line < lines; line++) {
        access.address = nth_line(l1d, address, line);
        read_line(memory, l1d, &memory->dtlb, &access, &result);
    }
}

void memory_warm_prefetch(struct memory *memory, uint64_t address, uint32_t insn) {
    struct cache *l1d = &memory->l1d;
    const size_t index = cache_find(l1d, address);
    if (index != CACHE_NONE) {
        cache_touch(l1d, index);
        return;
    }
    const struct request prefetch = {.cycle = memory->now,
                                     .address = address,
                                     .sequence = UINT64_MAX,
                                     .insn = insn,
                                     .data = true,
                                     .prefetch = true,
                                     .functional = true};
    struct answer answer;
    bool missed_tlb;
    translate(memory, &memory->dtlb, memory->now, address, true, &missed_tlb);
    level_fill(memory, l1d, &prefetch, &answer);
}

void memory_warm_fetch(struct memory *memory, uint64_t address) {
    struct cache *l1i = &memory->l1i;
    if (memory->ideal & MEMORY_IDEAL_FETCH ||
        settled_hit(l1i, &memory->itlb, memory->now, address, 1) != CACHE_NONE)
        return;
    const struct request access = {.cycle = memory->now,
                                   .address = address,
                                   .sequence = UINT64_MAX,
                                   .insn = NO_INSN,
                                   .functional = true};
    struct memory_result result;
    read_line(memory, l1i, &memory->itlb, &access, &result);
}
