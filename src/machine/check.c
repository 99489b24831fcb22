/* Conditions between keys, after each key is within its own range (machine.def). Messages name the
 * keys in question and values that would do. */
#include <stdio.h>
#include <string.h>

#include "machine/key.h"
#include "machine/machine.h"
#include "machine/ports.h"
#include "util/array.h"
#include "util/power_of_two.h"

/* Checks that every key is within its range, however the struct was filled. */
static bool check_ranges(const char *section, const char *member, const void *object,
                         struct error *error) {
    for (size_t i = 0; i < KEY_COUNT; i++) {
        const struct key *key = &KEYS[i];
        if (strcmp(key->section, section) || key_check(key, object, error))
            continue;
        char value[VALUE_SIZE];
        key_format(key, object, value);
        return error_prefix(error, "%s%s%s%s%s%s = %s (%s)", *section ? "[" : "", section,
                            *member ? "." : "", member, *section ? "] " : "", key->name, value,
                            key->meaning);
    }
    return true;
}

static bool check_all_ranges(const struct machine *machine, struct error *error) {
    for (size_t i = 0; i < KEY_COUNT; i++) {
        const char *section = KEYS[i].section;
        if ((i && !strcmp(section, KEYS[i - 1].section)) || !strcmp(section, "queue") ||
            !strcmp(section, "pool") || !strcmp(section, "class"))
            continue;
        if (!check_ranges(section, "", machine, error))
            return false;
    }
    return true;
}

static bool check_execution(const struct machine *machine, struct error *error) {
    if (!machine->queue_count || machine->queue_count > MACHINE_MAX_QUEUES)
        return error_set(error, "%u queues: 1 to %d sections [queue.NAME] are needed",
                         machine->queue_count, MACHINE_MAX_QUEUES);
    if (!machine->pool_count || machine->pool_count > MACHINE_MAX_POOLS)
        return error_set(error, "%u pools: 1 to %d sections [pool.NAME] are needed",
                         machine->pool_count, MACHINE_MAX_POOLS);
    for (uint32_t i = 0; i < machine->queue_count; i++)
        if (!check_ranges("queue", machine->queues[i].name, &machine->queues[i], error))
            return false;
    for (uint32_t i = 0; i < machine->pool_count; i++) {
        const struct machine_pool *pool = &machine->pools[i];
        if (!check_ranges("pool", pool->name, pool, error))
            return false;
        if (pool->queue >= machine->queue_count)
            return error_set(error, "[pool.%s] queue: index %u of %u", pool->name, pool->queue,
                             machine->queue_count);
        if (pool->shares[0] && machine->core.in_order)
            return error_set(error, "[pool.%s] shares = %s: in order, a pool has units of its own",
                             pool->name, pool->shares);
    }
    const uint32_t data = ports_first_pool(&machine->store_data);
    const uint32_t data_queue = data < machine->pool_count ? machine->pools[data].queue : 0;
    if (machine->core.store_data[0] && machine->queues[data_queue].entries < 2)
        return error_set(error,
                         "[core] store_data = %s: of queue %s, which has an entry for one half of "
                         "a store; 2 are needed",
                         machine->core.store_data, machine->queues[data_queue].name);
    const uint32_t units = sum_over(uint32_t, i, machine->pool_count,
                                    machine->pools[i].shares[0] ? 0 : machine->pools[i].units);
    if (units > MACHINE_MAX_UNITS)
        return error_set(error,
                         "[pool.%s] units = %u: with it the pools have %u units; allowed: %d",
                         machine->pools[machine->pool_count - 1].name,
                         machine->pools[machine->pool_count - 1].units, units, MACHINE_MAX_UNITS);
    const uint32_t schedulers =
        sum_over(uint32_t, i, machine->pool_count,
                 machine->pools[i].shares[0] || machine->pools[i].beside[0] ||
                         !machine->queues[machine->pools[i].queue].unit_entries
                     ? 0
                     : machine->pools[i].units);
    if (schedulers > MACHINE_MAX_SCHEDULERS)
        return error_set(error,
                         "[queue.NAME] unit_entries: the pools have %u schedulers of a unit each; "
                         "allowed: %d",
                         schedulers, MACHINE_MAX_SCHEDULERS);
    if (machine->core.result_bus[0] && units > MACHINE_MAX_UNITS / 2)
        return error_set(error, "[core] result_bus = %s: the pools have %u units; with it: %d",
                         machine->core.result_bus, units, MACHINE_MAX_UNITS / 2);
    for (int operation = OP_NOP + 1; operation < OP_COUNT; operation++) {
        const struct machine_class *class = &machine->classes[operation];
        const char *name = operation_name((enum operation)operation);
        if (!check_ranges("class", name, class, error))
            return false;
        if (class->pool >= machine->pool_count)
            return error_set(error, "[class.%s] pool: index %u of %u", name, class->pool,
                             machine->pool_count);
        if (class->interval > class->latency)
            return error_set(error,
                             "[class.%s] interval = %u: more than latency = %u; a unit is busy for "
                             "at most the latency",
                             name, class->interval, class->latency);
    }
    return true;
}

static bool check_core(const struct machine_core *core, struct error *error) {
    if (core->partial_store && !core->store_block)
        return error_set(error,
                         "[core] partial_store = %u: stores must be written by blocks: set "
                         "store_block",
                         core->partial_store);
    if (core->store_block && (core->store_block < 8 || !is_power_of_two(core->store_block)))
        return error_set(error, "[core] store_block = %u: allowed: 0 or a power of two from 8",
                         core->store_block);
    if (core->fetch_bytes && (core->fetch_bytes < 8 || !is_power_of_two(core->fetch_bytes)))
        return error_set(error, "[core] fetch_bytes = %u: allowed: 0 or a power of two from 8",
                         core->fetch_bytes);
    if (core->decode_bytes && (core->decode_bytes < 8 || !is_power_of_two(core->decode_bytes)))
        return error_set(error, "[core] decode_bytes = %u: allowed: 0 or a power of two from 8",
                         core->decode_bytes);
    if (core->fetch_buffer < core->fetch_width)
        return error_set(error, "[core] fetch_buffer = %u: must hold fetch_width = %u",
                         core->fetch_buffer, core->fetch_width);
    if (core->rob < core->dispatch_width || core->rob < core->commit_width)
        return error_set(error,
                         "[core] rob = %u: must hold dispatch_width = %u and commit_width = %u",
                         core->rob, core->dispatch_width, core->commit_width);
    if (core->in_order && (core->dispatch_width > 8 || core->commit_width != core->dispatch_width))
        return error_set(error,
                         "[core] dispatch_width = %u, commit_width = %u: in order both are what "
                         "issues per cycle: the same, 1 to 8",
                         core->dispatch_width, core->commit_width);
    /* One holds the architecture's flags. */
    if (core->flag_registers && core->flag_registers < 16)
        return error_set(error,
                         "[core] flag_registers = %u: allowed: 0 (flags have integer registers) or "
                         "at least 16",
                         core->flag_registers);
    /* 32 hold architectural values; 16 let any instruction rename its destinations. */
    if ((core->int_registers && core->int_registers < 48) ||
        (core->fp_registers && core->fp_registers < 48))
        return error_set(error,
                         "[core] %s = %u: allowed: 0 (unlimited) or at least 48: 32 architectural "
                         "and some to rename to",
                         core->int_registers && core->int_registers < 48 ? "int_registers"
                                                                         : "fp_registers",
                         core->int_registers && core->int_registers < 48 ? core->int_registers
                                                                         : core->fp_registers);
    return true;
}

/* Bytes a cycle: at less a line takes so many cycles that a run of them has no end. */
static const double LEAST_BANDWIDTH = 0.0001;

static bool check_bandwidth(const char *section, const char *key, double bandwidth,
                            struct error *error) {
    return bandwidth == 0 || bandwidth >= LEAST_BANDWIDTH ||
           error_set(error, "[%s] %s = %g: must be 0 or at least %g bytes per cycle", section, key,
                     bandwidth, LEAST_BANDWIDTH);
}

static bool check_cache(const char *name, const struct machine_cache *cache, struct error *error) {
    if (!cache->present)
        return true;
    if (!is_power_of_two(cache->line))
        return error_set(error, "[%s] line = %u: must be a power of two", name, cache->line);
    uint64_t way = (uint64_t)cache->ways * cache->line;
    if (cache->size % way || !is_power_of_two(cache->size / way))
        return error_set(error,
                         "[%s] size = %llu: size / (ways = %u * line = %u), the number of sets, "
                         "must be a power of two",
                         name, (unsigned long long)cache->size, cache->ways, cache->line);
    if (cache->replacement == REPLACE_PLRU && !is_power_of_two(cache->ways))
        return error_set(error, "[%s] ways = %u: plru needs a power of two", name, cache->ways);
    return true;
}

static bool check_retention(const char *name, const struct machine_cache *cache,
                            struct error *error) {
    if (!cache->retention &&
        (cache->first_retention || cache->retention_shape || cache->first_shape ||
         cache->admission < 100 || cache->readmission < 100))
        return error_set(error,
                         "[%s] retention = 0: first_retention, shapes, admission and readmission "
                         "need it: make them 0, 0, 100, 100",
                         name);
    return cache->first_retention <= cache->retention ||
           error_set(error, "[%s] first_retention = %llu: must be at most retention = %llu", name,
                     (unsigned long long)cache->first_retention,
                     (unsigned long long)cache->retention);
}

/* Pages are translated before the L1 is read, so the levels behind it see none. The key that names
 * a prefetcher which needs them, or NULL. A long stream of the L2 is the L1's, which asks for lines
 * that are farther ahead there. */
static const char *translating_key(const struct machine_cache *cache, enum prefetcher_kind kind) {
    return cache->prefetcher == kind          ? "prefetcher"
           : cache->second_prefetcher == kind ? "second_prefetcher"
           : cache->third_prefetcher == kind  ? "third_prefetcher"
                                              : NULL;
}

static bool check_translating(const char *name, const struct machine_cache *cache,
                              struct error *error) {
    static const enum prefetcher_kind KINDS[] = {PREFETCH_NEXT_PAGE, PREFETCH_LONG_STREAM};
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        const char *key = translating_key(cache, KINDS[i]);
        const bool directed = KINDS[i] == PREFETCH_LONG_STREAM && !strcmp(name, "l2");
        if (key && !directed)
            return error_set(error, "[%s] %s = %s: it is the l1d's%s", name, key,
                             machine_prefetchers[KINDS[i]].word,
                             KINDS[i] == PREFETCH_LONG_STREAM ? ", or the l2's" : "");
    }
    return true;
}

static bool check_caches(const struct machine *machine, struct error *error) {
    const char *names[] = {"l1i", "l1d", "l2", "llc"};
    const struct machine_cache *caches[] = {&machine->l1i, &machine->l1d, &machine->l2,
                                            &machine->llc};
    if (!machine->l1d.present)
        return error_set(error, "[l1d] size = 0: a machine needs a first-level data cache");
    if (machine_prefetchers[machine->l1i.prefetcher].by_instruction ||
        machine_prefetchers[machine->l1i.second_prefetcher].by_instruction ||
        machine_prefetchers[machine->l1i.third_prefetcher].by_instruction)
        return error_set(error,
                         "[l1i] prefetcher, second_prefetcher or third_prefetcher = stride or "
                         "next_page: they learn from loads and stores; choose another");
    int inner = 1;
    for (int i = 0; i < 4; i++) {
        if ((caches[i] != &machine->l1d && !check_translating(names[i], caches[i], error)) ||
            !check_cache(names[i], caches[i], error) ||
            !check_bandwidth(names[i], "bandwidth", caches[i]->bandwidth, error) ||
            !check_bandwidth(names[i], "write_bandwidth", caches[i]->write_bandwidth, error) ||
            (caches[i] == &machine->llc && !check_retention(names[i], caches[i], error)))
            return false;
        if (i < 2 || !caches[i]->present)
            continue;
        if (caches[i]->latency <= caches[inner]->latency)
            return error_set(error, "[%s] latency = %u: must be above that of %s, %u", names[i],
                             caches[i]->latency, names[inner], caches[inner]->latency);
        if (caches[i]->line < caches[inner]->line ||
            (caches[0]->present && caches[i]->line < caches[0]->line))
            return error_set(error,
                             "[%s] line = %u: must not be smaller than in the caches it "
                             "serves",
                             names[i], caches[i]->line);
        inner = i;
    }
    return true;
}

/* No entries, or no ways: there are no sets. */
static bool check_sets(const char *name, uint32_t entries, uint32_t ways, struct error *error) {
    if (!entries || !ways || (entries % ways == 0 && is_power_of_two(entries / ways)))
        return true;
    return error_set(
        error,
        "[%s] entries = %u: entries / (ways = %u), the number of sets, must be a power "
        "of two",
        name, entries, ways);
}

static bool check_tlb(const char *name, const struct machine_tlb *tlb, struct error *error) {
    return check_sets(name, tlb->entries, tlb->ways, error);
}

/* Its hits take no time of their own. */
static bool check_first_tlb(const char *name, const struct machine_tlb *tlb, struct error *error) {
    return tlb->latency == 0 ||
           error_set(error, "[%s] latency = %u: no TLB lies before it; allowed: 0", name,
                     tlb->latency);
}

static bool check_memory(const struct machine *machine, struct error *error) {
    if (!check_first_tlb("itlb", &machine->itlb, error) ||
        !check_first_tlb("dtlb", &machine->dtlb, error))
        return false;
    if (!check_tlb("itlb", &machine->itlb, error) || !check_tlb("dtlb", &machine->dtlb, error) ||
        !check_tlb("l2tlb", &machine->l2tlb, error))
        return false;
    if (!is_power_of_two(machine->page_size))
        return error_set(error, "[tlb] page_size = %u: must be a power of two", machine->page_size);
    if (machine->walk_level && machine->page_size > 1 << 21)
        return error_set(error,
                         "[tlb] page_size = %u: at most 2M with walk_level, or a table would "
                         "cover more than 1 GiB",
                         machine->page_size);
    if (machine->walk_level == 2 && !machine->l2.present)
        return error_set(error, "[tlb] walk_level = 2: there is no L2; allowed: 0, 1");
    if (machine->host_tables && !machine->walk_level)
        return error_set(error, "[tlb] host_tables = yes: needs walk_level 1 or 2");
    const struct machine_dram *dram = &machine->dram;
    if (dram->banked && (!is_power_of_two(dram->row) || !is_power_of_two(dram->banks) ||
                         !is_power_of_two(dram->ranks)))
        return error_set(error, "[dram] row = %u, banks = %u, ranks = %u: must be powers of two",
                         dram->row, dram->banks, dram->ranks);
    return true;
}

static bool check_branch(const struct machine_branch *branch, struct error *error) {
    const struct {
        const char *name;
        uint32_t entries;
    } tables[] = {{"bimodal_entries", branch->bimodal_entries},
                  {"gshare_entries", branch->gshare_entries},
                  {"meta_entries", branch->meta_entries},
                  {"tage_entries", branch->tage_entries},
                  {"prediction_width", branch->prediction_width}};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        if (!is_power_of_two(tables[i].entries))
            return error_set(error, "[branch] %s = %u: must be a power of two", tables[i].name,
                             tables[i].entries);
    if (branch->indirect_entries && !is_power_of_two(branch->indirect_entries))
        return error_set(error, "[branch] indirect_entries = %u: must be 0 or a power of two",
                         branch->indirect_entries);
    if (branch->indirect_history &&
        (branch->indirect_history < 8 || !is_power_of_two(branch->indirect_history)))
        return error_set(error, "[branch] indirect_history = %u: must be 0, 8, 16 or 32",
                         branch->indirect_history);
    if (branch->btb_entries && (branch->btb_entries % branch->btb_ways ||
                                !is_power_of_two(branch->btb_entries / branch->btb_ways)))
        return error_set(error,
                         "[branch] btb_entries = %u: btb_entries / (btb_ways = %u), the number of "
                         "sets, must be a power of two",
                         branch->btb_entries, branch->btb_ways);
    if (branch->btb_far_ways > branch->btb_ways)
        return error_set(error, "[branch] btb_far_ways = %u: must be at most btb_ways = %u",
                         branch->btb_far_ways, branch->btb_ways);
    if (branch->near_btb_entries &&
        (branch->near_btb_entries < 4 || !is_power_of_two(branch->near_btb_entries)))
        return error_set(error,
                         "[branch] near_btb_entries = %u: must be 0, or a power of two from 4 on",
                         branch->near_btb_entries);
    if (!check_sets("opcache", branch->op_cache_entries, branch->op_cache_ways, error))
        return false;
    bool uses_history = branch->direction == DIRECTION_GSHARE ||
                        branch->direction == DIRECTION_TOURNAMENT || branch->override_bubble;
    if (branch->override_bubble && branch->direction != DIRECTION_TAGE)
        return error_set(error, "[branch] override_bubble = %u: only with direction = tage",
                         branch->override_bubble);
    if (uses_history && 1u << branch->history > branch->gshare_entries)
        return error_set(error, "[branch] history = %u: more bits than index gshare_entries = %u",
                         branch->history, branch->gshare_entries);
    uint32_t span = branch->tage_max_history - branch->tage_min_history;
    if (branch->tage_max_history < branch->tage_min_history || span + 1 < branch->tage_tables)
        return error_set(error,
                         "[branch] tage_min_history = %u, tage_max_history = %u: must leave %u "
                         "tables (tage_tables) a history of their own each",
                         branch->tage_min_history, branch->tage_max_history, branch->tage_tables);
    return true;
}

static bool check_chip_cache(const char *name, const struct machine_cache *cache, uint32_t page,
                             struct error *error) {
    if (!cache->present)
        return error_set(error, "[%s] size = 0: a chip's core needs it", name);
    if (cache->replacement != REPLACE_LRU || machine_prefetches(cache))
        return error_set(error, "[%s] of a chip: replacement must be lru and prefetcher none",
                         name);
    if (cache->line > page)
        return error_set(error, "[%s] line = %u: longer than a page of %u bytes", name, cache->line,
                         page);
    return true;
}

bool machine_check_chip(const struct machine *machine, struct error *error) {
    const struct machine_core *core = &machine->core;
    if (!core->in_order || core->dispatch_width != 1)
        return error_set(error, "[chip] needs in_order = yes and dispatch_width = 1 of [core]: a "
                                "core issues one instruction of one thread per cycle");
    if (machine->llc.present || machine->l2tlb.entries)
        return error_set(error, "[chip] needs llc.size = 0 and l2tlb.entries = 0: its last level "
                                "is the L2, and a TLB miss walks");
    if (machine->dram.banked)
        return error_set(error, "[chip] needs dram.banked = no: memory of a fixed latency");
    if (!is_power_of_two(machine->chip.l2_banks))
        return error_set(error, "[chip] l2_banks = %u: must be a power of two",
                         machine->chip.l2_banks);
    return check_chip_cache("l1i", &machine->l1i, machine->page_size, error) &&
           check_chip_cache("l1d", &machine->l1d, machine->page_size, error) &&
           check_chip_cache("l2", &machine->l2, machine->page_size, error);
}

bool machine_check(const struct machine *machine, struct error *error) {
    return check_all_ranges(machine, error) && check_execution(machine, error) &&
           check_core(&machine->core, error) && check_caches(machine, error) &&
           check_memory(machine, error) && check_branch(&machine->branch, error) &&
           (!machine_is_chip(machine) || machine_check_chip(machine, error));
}
