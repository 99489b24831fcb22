#include "calibrate/figure.h"

#include <math.h>
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

static const char *memory_key(const struct machine *machine) {
    return machine->dram.banked ? "dram.base_latency" : "dram.latency";
}

static const struct figure {
    const char *name, *key; /* NULL: memory_key() */
    bool (*of)(const struct machine *machine, double *value);
} FIGURES[] = {{"l1d.load_to_use", "l1d.latency", of_l1d},
               {"l2.load_to_use", "l2.latency", of_l2},
               {"llc.load_to_use", "llc.latency", of_llc},
               {"chip.modified_load_to_use", "chip.modified_transfer", of_modified},
               {"chip.clean_load_to_use", "chip.clean_transfer", of_clean},
               {"memory.load_to_use", NULL, of_memory},
               {"memory.bandwidth", "dram.bandwidth", of_bandwidth},
               {"tlb.walk", "tlb.page_walk", of_walk},
               {"branch.indirect_targets", "branch.indirect_entries", of_indirect}};

static const struct figure *find(const char *name) {
    for (size_t i = 0; i < sizeof FIGURES / sizeof *FIGURES; i++)
        if (!strcmp(FIGURES[i].name, name))
            return &FIGURES[i];
    return NULL;
}

const char *figure_key(const struct machine *machine, const char *name) {
    const struct figure *figure = find(name);
    return !figure ? NULL : figure->key ? figure->key : memory_key(machine);
}

bool figure_value(const struct machine *machine, const char *name, double *value) {
    const struct figure *figure = find(name);
    return figure && figure->of(machine, value);
}

/* All but bandwidth and entries are sums. */
bool figure_key_value(const struct machine *machine, const char *name, double measured,
                      double *value) {
    const struct figure *figure = find(name);
    double whole, own;
    if (!figure || !figure->of(machine, &whole))
        return false;
    if (figure->of == of_bandwidth) {
        *value = measured * machine->clock_ghz;
        return true;
    }
    if (figure->of == of_indirect) {
        *value = exp2(round(log2(fmax(measured, 1))));
        return true;
    }
    own = figure->of == of_l1d        ? machine->l1d.latency
          : figure->of == of_l2       ? machine->l2.latency
          : figure->of == of_llc      ? machine->llc.latency
          : figure->of == of_modified ? machine->chip.modified_transfer
          : figure->of == of_clean    ? machine->chip.clean_transfer
          : figure->of == of_walk     ? machine->page_walk
          : machine->dram.banked      ? machine->dram.base_latency
                                      : machine->dram.latency;
    *value = round(measured) - (whole - own);
    return *value >= 0;
}
