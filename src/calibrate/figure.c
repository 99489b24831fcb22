#include "calibrate/figure.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static double address_generation(const struct machine *machine) {
    return machine->classes[OP_LOAD].latency;
}

static bool of_cache(const struct machine *machine, const struct machine_cache *cache,
                     double *value) {
    *value = address_generation(machine) + cache->latency;
    return cache->present;
}

static bool of_l1d(const struct machine *machine, double *value) {
    return of_cache(machine, &machine->l1d, value);
}
static bool of_l2(const struct machine *machine, double *value) {
    return of_cache(machine, &machine->l2, value);
}
static bool of_llc(const struct machine *machine, double *value) {
    return of_cache(machine, &machine->llc, value);
}

static bool of_modified(const struct machine *machine, double *value) {
    *value = address_generation(machine) + machine->chip.modified_transfer;
    return true;
}
static bool of_clean(const struct machine *machine, double *value) {
    *value = address_generation(machine) + machine->chip.clean_transfer;
    return true;
}

static const struct machine_cache *last_cache(const struct machine *machine) {
    return machine->llc.present  ? &machine->llc
           : machine->l2.present ? &machine->l2
                                 : &machine->l1d;
}

/* As memory/dram.c has it: each step takes whole cycles. */
static bool of_memory(const struct machine *machine, double *value) {
    const struct machine_dram *dram = &machine->dram;
    const struct machine_cache *last = last_cache(machine);
    const double clocks = machine->clock_ghz / dram->clock_ghz;
    *value = address_generation(machine) + last->latency;
    if (!dram->banked) {
        *value += dram->latency;
        return true;
    }
    *value += dram->base_latency + ceil((dram->trp + dram->trcd + dram->tcl) * clocks);
    if (dram->bandwidth > 0)
        *value += ceil(last->line * machine->clock_ghz / dram->bandwidth);
    return true;
}

static bool of_bandwidth(const struct machine *machine, double *value) {
    *value = machine->dram.bandwidth / machine->clock_ghz;
    return machine->dram.bandwidth > 0;
}

static bool of_walk(const struct machine *machine, double *value) {
    *value = machine_walk_cycles(machine);
    return true;
}

static bool of_indirect(const struct machine *machine, double *value) {
    *value = machine->branch.indirect_entries;
    return machine->branch.indirect_entries > 0;
}

/* Branches to other pages that the buffer holds. */
static bool of_far_jumps(const struct machine *machine, double *value) {
    const struct machine_branch *branch = &machine->branch;
    const uint32_t ways = branch->btb_far_ways ? branch->btb_far_ways : branch->btb_ways;
    *value = (double)branch->btb_entries / branch->btb_ways * ways;
    return branch->btb_entries > 0;
}

/* Of one behind another: what they take without cpuid_cycles, from dispatch into an empty reorder
 * buffer to commit, and with them the way to dispatch as well. */
static double alone(const struct machine *machine) {
    const struct machine_core *core = &machine->core;
    return core->dispatch_to_issue + machine->classes[OP_SYSTEM].latency + core->complete_to_commit;
}
static double behind_fetch(const struct machine *machine) {
    return alone(machine) + machine->core.frontend_depth;
}

static bool of_cpuid(const struct machine *machine, double *value) {
    const uint32_t cycles = machine->core.cpuid_cycles;
    *value = cycles ? cycles + behind_fetch(machine) : alone(machine);
    return true;
}

/* ---- keys of figures that are no sum ---- */

static double bandwidth_key(const struct machine *machine, double measured) {
    return measured * machine->clock_ghz;
}

static double indirect_key(const struct machine *machine, double measured) {
    (void)machine;
    return exp2(round(log2(fmax(measured, 1))));
}

/* Half of what misses cost is reached between this number of ways and one more, or at once where
 * the last way is full. */
static double far_jumps_key(const struct machine *machine, double measured) {
    const struct machine_branch *branch = &machine->branch;
    const double ways = round(measured * branch->btb_ways / branch->btb_entries - 0.25);
    return ways < branch->btb_ways ? fmax(ways, 1) : 0;
}

static double cpuid_key(const struct machine *machine, double measured) {
    return fmax(0, round(measured - behind_fetch(machine)));
}

/* ---- the table ---- */

/* A key, and where a struct machine has it, a uint32_t. */
struct part {
    const char *key; /* NULL: there is none */
    size_t offset;
};
#define PART(key_, member_)                                                                        \
    { key_, offsetof(struct machine, member_) }

struct figure {
    const char *name;
    bool (*of)(const struct machine *machine, double *value);
    struct part part;   /* that is chosen */
    struct part banked; /* in its place where memory has banks */
    /* The key's value of what was measured; NULL: the figure is a sum, of which it is a part. */
    double (*key_value)(const struct machine *machine, double measured);
};
#define SUM(name_, of_, key_, member_, ...)                                                        \
    { .name = name_, .of = of_, .part = PART(key_, member_), __VA_ARGS__ }
#define NO_SUM(name_, of_, key_, key_value_)                                                       \
    { .name = name_, .of = of_, .part = {.key = key_}, .key_value = key_value_ }

static const struct figure FIGURES[] = {
    SUM("l1d.load_to_use", of_l1d, "l1d.latency", l1d.latency),
    SUM("l2.load_to_use", of_l2, "l2.latency", l2.latency),
    SUM("llc.load_to_use", of_llc, "llc.latency", llc.latency),
    SUM("chip.modified_load_to_use", of_modified, "chip.modified_transfer", chip.modified_transfer),
    SUM("chip.clean_load_to_use", of_clean, "chip.clean_transfer", chip.clean_transfer),
    SUM("memory.load_to_use", of_memory, "dram.latency", dram.latency,
        .banked = PART("dram.base_latency", dram.base_latency)),
    NO_SUM("memory.bandwidth", of_bandwidth, "dram.bandwidth", bandwidth_key),
    SUM("tlb.walk", of_walk, "tlb.page_walk", page_walk),
    NO_SUM("core.cpuid", of_cpuid, "core.cpuid_cycles", cpuid_key),
    NO_SUM("branch.indirect_targets", of_indirect, "branch.indirect_entries", indirect_key),
    NO_SUM("branch.far_jumps", of_far_jumps, "branch.btb_far_ways", far_jumps_key)};

static const struct figure *find(const char *name) {
    for (size_t i = 0; i < sizeof FIGURES / sizeof *FIGURES; i++)
        if (!strcmp(FIGURES[i].name, name))
            return &FIGURES[i];
    return NULL;
}

static const struct part *part_of(const struct figure *figure, const struct machine *machine) {
    return figure->banked.key && machine->dram.banked ? &figure->banked : &figure->part;
}

const char *figure_key(const struct machine *machine, const char *name) {
    const struct figure *figure = find(name);
    return figure ? part_of(figure, machine)->key : NULL;
}

bool figure_value(const struct machine *machine, const char *name, double *value) {
    const struct figure *figure = find(name);
    return figure && figure->of(machine, value);
}

bool figure_key_value(const struct machine *machine, const char *name, double measured,
                      double *value) {
    const struct figure *figure = find(name);
    double whole;
    uint32_t own;
    if (!figure || !figure->of(machine, &whole))
        return false;
    if (figure->key_value) {
        *value = figure->key_value(machine, measured);
        return true;
    }
    memcpy(&own, (const char *)machine + part_of(figure, machine)->offset, sizeof own);
    *value = round(measured) - (whole - own);
    return *value >= 0;
}
