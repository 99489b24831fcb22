/* Caches, TLBs and walkers of a machine made, copied, begun again and freed, and what they counted.
 * Accesses: memory.c. */
#include "memory/memory.h"

#include <stdlib.h>

#include "memory/coherence.h"

bool level_new(struct cache *cache, const struct machine_cache *machine, const char *name,
               enum memory_level level, uint32_t page_size, struct error *error) {
    if (!cache_new(cache, machine, name, level, error))
        return false;
    cache->frame_shift = machine->frames ? (uint32_t)__builtin_ctz(page_size) : 0;
    return true;
}

/* Cycles of a line at so many bytes a cycle, in parts of one. */
static struct bus_time bus_time_of(const struct cache *cache, double bandwidth, uint64_t parts) {
    const double cycles = (double)(cache->line_mask + 1) / bandwidth;
    const uint64_t all = bandwidth > 0 ? (uint64_t)(cycles * (double)parts + 0.5) : 0;
    return (struct bus_time){all / parts, all % parts};
}

/* The bus between a cache and the next level, which moves its lines. */
static void set_bus(struct cache *cache, const struct machine *machine) {
    const struct machine_cache *next = !cache->next                     ? NULL
                                       : cache->next->level == LEVEL_L2 ? &machine->l2
                                                                        : &machine->llc;
    if (!next)
        return;
    cache->bus.parts = 1000;
    cache->bus.line = bus_time_of(cache, next->bandwidth, cache->bus.parts);
    cache->bus.write = bus_time_of(cache, next->write_bandwidth, cache->bus.parts);
}

static bool new_caches(struct memory *memory, const struct machine *machine, struct error *error) {
    struct cache *outer = NULL;
    struct cache *shared =
        memory->shared && memory->shared->last.tags ? &memory->shared->last : NULL;
    if (shared) {
        outer = shared;
    } else if (machine->llc.present) {
        if (!level_new(&memory->llc, &machine->llc, "llc", LEVEL_LLC, machine_entry_bytes(machine),
                       error))
            return false;
        outer = &memory->llc;
    }
    if (machine->l2.present && !(shared && shared->level == LEVEL_L2)) {
        if (!level_new(&memory->l2, &machine->l2, "l2", LEVEL_L2, machine_entry_bytes(machine),
                       error))
            return false;
        memory->l2.next = outer;
        memory->l2.before_shared = memory->shared != NULL;
        outer = &memory->l2;
    }
    if (!machine->l1i.present)
        memory->l1i.latency = machine->l1i.latency;
    else if (!cache_new(&memory->l1i, &machine->l1i, "l1i", LEVEL_L1, error))
        return false;
    if (!cache_new(&memory->l1d, &machine->l1d, "l1d", LEVEL_L1, error))
        return false;
    memory->l1i.next = memory->l1d.next = outer;
    memory->l1i.before_shared = memory->l1d.before_shared = memory->shared && !memory->l2.tags;
    for (struct cache *level = &memory->l1d; level->next; level = level->next)
        if (level->line_mask > level->next->line_mask)
            return error_set(error, "a line of an outer cache is shorter than one of an inner one: "
                                    "make l1d.line <= l2.line <= llc.line");
    if (outer && memory->l1i.line_mask > outer->line_mask)
        return error_set(error, "l1i.line is longer than a line of the next level: shorten it");
    set_bus(&memory->l1i, machine);
    set_bus(&memory->l1d, machine);
    set_bus(&memory->l2, machine);
    return true;
}

static bool new_tlbs(struct memory *memory, const struct machine *machine, struct error *error) {
    const uint32_t bytes = machine_entry_bytes(machine);
    if (machine->page_size < CACHE_MAX_LINE || machine->page_size & (machine->page_size - 1))
        return error_set(error, "page_size = %u: must be a power of two of at least %d",
                         machine->page_size, CACHE_MAX_LINE);
    memory->page_size = machine->page_size;
    memory->page_shift = (uint32_t)__builtin_ctz(machine->page_size);
    memory->clears_pages = machine->l1d.cleared_pages && !memory->shared;
    memory->second_tlb = machine->l2tlb.entries || machine->l2tlb.latency;
    return tlb_new(&memory->itlb, &machine->itlb, bytes, "itlb", error) &&
           tlb_new(&memory->dtlb, &machine->dtlb, bytes, "dtlb", error) &&
           tlb_new(&memory->l2tlb, &machine->l2tlb, bytes, "l2tlb", error) &&
           walker_new(memory, machine, error);
}

static const struct cache *last_level(const struct memory *memory) {
    const struct cache *level = &memory->l1d;
    while (level->next)
        level = level->next;
    return level;
}

static void find_fewest_mshrs(struct memory *memory) {
    uint32_t fewest = 0;
    for (const struct cache *level = &memory->l1d; level; level = level->next) {
        if (level->mshrs && (!fewest || level->mshrs < fewest))
            fewest = level->mshrs;
        for (unsigned server = level->level + 1u; server <= LEVEL_DRAM; server++)
            memory->mshrs[server] = fewest;
    }
}

struct memory *memory_new_shared(const struct machine *machine, uint32_t ideal,
                                 struct shared_memory *shared, uint32_t core, struct error *error) {
    struct memory *memory = calloc(1, sizeof *memory);
    if (!memory)
        return error_null(error, "out of memory for the caches of %s", machine->name);
    memory->shared = shared;
    memory->core = core;
    memory->dram = shared ? &shared->dram : &memory->own_dram;
    if (shared && !(memory->lost = calloc(LOST_LINES, sizeof *memory->lost))) {
        memory_free(memory);
        return error_null(error, "out of memory for the lines of %s", machine->name);
    }
    memory->always = machine->l1i.present ? 0 : MEMORY_IDEAL_FETCH; /* every fetch hits */
    memory_idealise(memory, ideal);
    if (!new_caches(memory, machine, error) || !new_tlbs(memory, machine, error) ||
        (!shared && !dram_new(&memory->own_dram, machine,
                              (uint32_t)last_level(memory)->line_mask + 1, error))) {
        memory_free(memory);
        return NULL;
    }
    find_fewest_mshrs(memory);
    return memory;
}

struct memory *memory_new(const struct machine *machine, uint32_t ideal, struct error *error) {
    return memory_new_shared(machine, ideal, NULL, 0, error);
}

void memory_idealise(struct memory *memory, uint32_t ideal) {
    memory->ideal = ideal | memory->always;
}

void memory_free(struct memory *memory) {
    if (!memory)
        return;
    cache_free(&memory->l1i);
    cache_free(&memory->l1d);
    cache_free(&memory->l2);
    cache_free(&memory->llc);
    tlb_free(&memory->itlb);
    tlb_free(&memory->dtlb);
    tlb_free(&memory->l2tlb);
    walker_free(&memory->walker);
    dram_free(&memory->own_dram);
    page_set_free(&memory->stored);
    free(memory->lost);
    free(memory);
}

void memory_copy(struct memory *memory, const struct memory *from) {
    cache_copy(&memory->l1i, &from->l1i);
    cache_copy(&memory->l1d, &from->l1d);
    cache_copy(&memory->l2, &from->l2);
    cache_copy(&memory->llc, &from->llc);
    tlb_copy(&memory->itlb, &from->itlb);
    tlb_copy(&memory->dtlb, &from->dtlb);
    tlb_copy(&memory->l2tlb, &from->l2tlb);
    tlb_copy(&memory->walker.directory, &from->walker.directory);
    tlb_copy(&memory->walker.host_directory, &from->walker.host_directory);
    dram_copy(&memory->own_dram, &from->own_dram);
    page_set_copy(&memory->stored, &from->stored);
    retention_restart(&memory->llc.retention, from->now);
}

void memory_restart(struct memory *memory) {
    cache_restart(&memory->l1i);
    cache_restart(&memory->l1d);
    cache_restart(&memory->l2);
    cache_restart(&memory->llc);
    tlb_restart(&memory->itlb);
    tlb_restart(&memory->dtlb);
    tlb_restart(&memory->l2tlb);
    tlb_restart(&memory->walker.directory);
    tlb_restart(&memory->walker.host_directory);
    holds_clear(&memory->walker.busy);
    bus_clear(&memory->walker.starts);
    dram_restart(&memory->own_dram);
    memory_pass(memory, memory->now);
    memory->now = 0;
}

void memory_pass(struct memory *memory, uint64_t cycles) {
    retention_restart(&memory->llc.retention, cycles);
}

void memory_statistics(const struct memory *memory, struct memory_statistics *statistics) {
    *statistics = (struct memory_statistics){.l1i = memory->l1i.statistics,
                                             .l1d = memory->l1d.statistics,
                                             .l2 = memory->l2.statistics,
                                             .llc = memory->llc.statistics,
                                             .itlb_accesses = memory->itlb.accesses,
                                             .itlb_misses = memory->itlb.misses,
                                             .dtlb_accesses = memory->dtlb.accesses,
                                             .dtlb_misses = memory->dtlb.misses,
                                             .page_walks = memory->page_walks,
                                             .dtlb_wait_cycles = memory->dtlb.wait_cycles,
                                             .dram_reads = memory->own_dram.reads,
                                             .dram_writes = memory->own_dram.writes,
                                             .dram_row_hits = memory->own_dram.row_hits};
}

bool memory_consistent(const struct memory *memory) {
    const struct cache *caches[] = {&memory->l1i, &memory->l1d, &memory->l2, &memory->llc};
    for (unsigned cache = 0; cache < 4; cache++)
        if (caches[cache]->tags && !cache_consistent(caches[cache], memory->now))
            return false;
    return tlb_consistent(&memory->itlb) && tlb_consistent(&memory->dtlb) &&
           tlb_consistent(&memory->l2tlb) && tlb_consistent(&memory->walker.directory) &&
           tlb_consistent(&memory->walker.host_directory) &&
           (memory->shared || dram_consistent(&memory->own_dram));
}
