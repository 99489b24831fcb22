#include "report/simulated_counts.h"

static double share_of(uint64_t part, uint64_t whole) {
    return whole ? (double)part / (double)whole : 0;
}

static void add(struct simulated_counts *counts, const char *key, const char *name,
                uint64_t count) {
    counts->items[counts->count++] = (struct simulated_count){key, name, count, NULL, 0, false};
}

static void add_share(struct simulated_counts *counts, const char *key, const char *name,
                      uint64_t count, uint64_t whole, const char *of) {
    counts->items[counts->count++] =
        (struct simulated_count){key, name, count, of, share_of(count, whole), false};
}

static void add_rate(struct simulated_counts *counts, const char *key, const char *name,
                     uint64_t count, double rate, const char *of) {
    counts->items[counts->count++] = (struct simulated_count){key, name, count, of, rate, true};
}

/* A level of caches: what reaches it, and what of that it lacks. */
static void add_cache(struct simulated_counts *counts, const char *const keys[2],
                      const char *const names[2], const struct cache_statistics *cache,
                      const char *of) {
    add(counts, keys[0], names[0], cache->accesses);
    add_share(counts, keys[1], names[1], cache->misses, cache->accesses, of);
}

static void add_core(struct simulated_counts *counts, const struct simulation *simulation) {
    const struct branch_statistics *branch = &simulation->counted.branch;
    const uint64_t branches =
        branch->conditional + branch->indirect + branch->returns + branch->direct;
    const uint64_t wrong =
        branch->conditional_wrong + branch->indirect_wrong + branch->returns_wrong;
    add_rate(counts, "cycles", "cycles", simulation->cycles, counts->report->machine->clock_ghz,
             "GHz");
    add_rate(counts, "instructions", "instructions", simulation->instructions,
             share_of(simulation->instructions, simulation->cycles), "insn per cycle");
    add_rate(counts, "uops", "uops", simulation->uops,
             share_of(simulation->uops, simulation->cycles), "uops per cycle");
    add(counts, "branches", "branches", branches);
    add_share(counts, "branch_misses", "branch-misses", wrong, branches, "of all branches");
}

static void add_memory(struct simulated_counts *counts, const struct simulation *simulation) {
    const struct core_statistics *counted = &simulation->counted;
    const struct memory_statistics *memory = &counted->memory;
    const struct machine *machine = counts->report->machine;
    static const char *const L1D[][2] = {{"l1d_accesses", "l1d_misses"},
                                         {"L1-dcache-accesses", "L1-dcache-misses"}};
    static const char *const L1I[][2] = {{"l1i_accesses", "l1i_misses"},
                                         {"L1-icache-accesses", "L1-icache-misses"}};
    static const char *const L2[][2] = {{"l2_reads", "l2_misses"}, {"L2-reads", "L2-read-misses"}};
    static const char *const LLC[][2] = {{"llc_reads", "llc_misses"},
                                         {"LLC-reads", "LLC-read-misses"}};
    add(counts, "loads", "loads", counted->loads);
    add(counts, "stores", "stores", counted->stores);
    add_cache(counts, L1D[0], L1D[1], &memory->l1d, "of all L1-dcache accesses");
    add_cache(counts, L1I[0], L1I[1], &memory->l1i, "of all L1-icache accesses");
    if (machine->l2.present)
        add_cache(counts, L2[0], L2[1], &memory->l2, "of all L2 reads, with prefetches");
    if (machine->llc.present)
        add_cache(counts, LLC[0], LLC[1], &memory->llc, "of all LLC reads, with prefetches");
    add(counts, "dtlb_accesses", "dTLB-accesses", memory->dtlb_accesses);
    add_share(counts, "dtlb_misses", "dTLB-misses", memory->dtlb_misses, memory->dtlb_accesses,
              "of all dTLB accesses");
}

void simulated_counts_fill(const struct report *report, const struct levels *levels,
                           struct simulated_counts *counts) {
    const struct simulation *simulation = report->simulation;
    const uint64_t elapsed =
        simulation->together.cycles ? simulation->together.cycles : simulation->cycles;
    *counts =
        (struct simulated_counts){.report = report,
                                  .levels = levels,
                                  .seconds = (double)elapsed / report->machine->clock_ghz / 1e9,
                                  .half_cycles = simulation_interval(simulation)};
    add_core(counts, simulation);
    add_memory(counts, simulation);
    add(counts, "slots", "slots", levels->slots);
    add_share(counts, "stalled_slots", "stalled-slots",
              levels->slots - levels->classes[SLOT_RETIRING], levels->slots, "of all slots");
}
