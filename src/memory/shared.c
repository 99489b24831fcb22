/* Set-up of what cores share, and its invariants. */
#include "memory/coherence.h"

#include <stdlib.h>

static bool same_lines(const struct machine *machine, struct error *error) {
    const struct machine_cache *levels[] = {&machine->l1i, &machine->l1d, &machine->l2,
                                            &machine->llc};
    const uint32_t line = machine->l1d.line;
    for (unsigned i = 0; i < sizeof levels / sizeof *levels; i++)
        if (levels[i]->present && levels[i]->line != line)
            return error_set(error,
                             "cores that share memory need lines of one length, and those of %s "
                             "are %u and %u bytes: set l1i.line, l1d.line, l2.line and llc.line",
                             machine->name, line, levels[i]->line);
    return true;
}

static bool new_last(struct shared_memory *shared, const struct machine *machine,
                     struct error *error) {
    shared->last.latency = machine->l1d.latency;
    if (machine->llc.present)
        return level_new(&shared->last, &machine->llc, "llc", LEVEL_LLC,
                         machine_entry_bytes(machine), error);
    return !machine->l2.present || level_new(&shared->last, &machine->l2, "l2", LEVEL_L2,
                                             machine_entry_bytes(machine), error);
}

static uint64_t lines_in(const struct cache *cache) {
    return cache->tags ? (cache->set_mask + 1) * cache->ways : 0;
}

static bool new_cores(struct shared_memory *shared, const struct machine *machine, uint32_t cores,
                      uint32_t ideal, struct error *error) {
    for (; shared->core_count < cores; shared->core_count++) {
        struct memory **core = &shared->cores[shared->core_count];
        if (!(*core = memory_new_shared(machine, ideal, shared, shared->core_count, error)))
            return false;
        memory_in_program_order(*core);
    }
    return true;
}

/* An entry for each private line, and as many again: what shares a set with more lines than a set
 * has ways is rare then. */
static bool new_directory(struct shared_memory *shared, const struct machine *machine,
                          struct error *error) {
    const struct memory *core = shared->cores[0];
    uint64_t entries = machine->chip.directory_entries;
    if (!entries)
        entries = 2 * shared->core_count *
                  (lines_in(&core->l1i) + lines_in(&core->l1d) + lines_in(&core->l2));
    return directory_new(&shared->directory, entries, core->l1d.line_shift) ||
           error_set(error, "out of memory for the directory of %u cores", shared->core_count);
}

struct shared_memory *shared_memory_new(const struct machine *machine, uint32_t cores,
                                        uint32_t ideal, struct error *error) {
    struct shared_memory *shared = calloc(1, sizeof *shared);
    if (cores < 1 || cores > SHARED_MEMORY_CORES) {
        free(shared);
        return error_null(error, "%u cores: at least 1 and at most %d share memory", cores,
                          SHARED_MEMORY_CORES);
    }
    if (!shared || !(shared->cores = calloc(cores, sizeof *shared->cores))) {
        free(shared);
        return error_null(error, "out of memory for %u cores", cores);
    }
    shared->line_bytes = machine->l1d.line;
    shared->clean_transfer = machine->chip.clean_transfer;
    shared->modified_transfer = machine->chip.modified_transfer;
    shared->upgrade = machine->chip.upgrade;
    shared->request_latency = machine->chip.request_latency;
    shared->migratory = machine->chip.migratory;
    if (!same_lines(machine, error) || !new_last(shared, machine, error) ||
        !dram_new(&shared->dram, machine, shared->line_bytes, error) ||
        !new_cores(shared, machine, cores, ideal, error) ||
        !new_directory(shared, machine, error)) {
        shared_memory_free(shared);
        return NULL;
    }
    if (shared->last.tags)
        shared->last.mshr_holds.any_order = true;
    return shared;
}

void shared_memory_free(struct shared_memory *shared) {
    if (!shared)
        return;
    for (uint32_t core = 0; core < shared->core_count; core++)
        memory_free(shared->cores[core]);
    free(shared->cores);
    cache_free(&shared->last);
    dram_free(&shared->dram);
    directory_free(&shared->directory);
    free(shared);
}

struct memory *shared_memory_core(struct shared_memory *shared, uint32_t core) {
    return shared->cores[core];
}

void shared_memory_idealise(struct shared_memory *shared, uint32_t ideal) {
    for (uint32_t core = 0; core < shared->core_count; core++)
        memory_idealise(shared->cores[core], ideal);
}

void shared_memory_advance(struct shared_memory *shared, uint64_t cycle) {
    for (uint32_t core = 0; core < shared->core_count; core++)
        shared->cores[core]->now = cycle;
    shared->dram.now = cycle;
}

void shared_memory_statistics(const struct shared_memory *shared, uint32_t core,
                              struct coherence_statistics *statistics) {
    *statistics = shared->statistics[core];
}

void shared_memory_watch(struct shared_memory *shared, struct coherence_watch watch) {
    shared->watch = watch;
}

/* A line that a core has dirty is its own, and one that it has at all is known to be there. */
static bool line_consistent(const struct shared_memory *shared, uint32_t core, uint64_t tag,
                            uint64_t line) {
    struct directory directory = shared->directory; /* looking counts as a use */
    const struct directory_entry *entry = directory_find(&directory, line);
    const uint64_t bit = UINT64_C(1) << core;
    if (!entry || !(entry->holders & bit))
        return false;
    if (entry->line & ENTRY_OWNED && entry->holders != bit)
        return false;
    return !(tag & TAG_DIRTY) || entry->line & ENTRY_OWNED;
}

static bool cache_coherent(const struct shared_memory *shared, uint32_t core,
                           const struct cache *cache) {
    for (size_t i = 0; i < lines_in(cache); i++)
        if (cache->tags[i] & TAG_VALID &&
            !line_consistent(shared, core, cache->tags[i], cache_line(cache, i)))
            return false;
    return true;
}

bool shared_memory_consistent(const struct shared_memory *shared) {
    for (uint32_t core = 0; core < shared->core_count; core++) {
        const struct memory *memory = shared->cores[core];
        if (!memory_consistent(memory) || !cache_coherent(shared, core, &memory->l1i) ||
            !cache_coherent(shared, core, &memory->l1d) ||
            !cache_coherent(shared, core, &memory->l2))
            return false;
    }
    return dram_consistent(&shared->dram) &&
           (!shared->last.tags || cache_consistent(&shared->last, shared->cores[0]->now));
}
