#include "analyze/costs.h"

#include "util/array.h"

static double memory_latency(const struct machine *machine) {
    const struct machine_dram *dram = &machine->dram;
    if (!dram->banked)
        return dram->latency;
    return dram->base_latency +
           (dram->tcl + dram->trcd + dram->trp) * machine->clock_ghz / dram->clock_ghz;
}

/* Misses of the inner caches may wait for each other farther out. */
static bool contended(const struct machine *machine) {
    const struct machine_cache *outer[] = {&machine->l2, &machine->llc};
    uint64_t wanted = (uint64_t)machine->l1d.mshrs + machine->l1i.mshrs;
    bool unlimited = machine->l1d.mshrs == 0 || machine->l1i.mshrs == 0;
    return any_where(i, 2,
                     outer[i]->present && outer[i]->mshrs &&
                         (unlimited || outer[i]->mshrs < wanted)) ||
           machine->dram.banked;
}

static double fill(const struct machine *machine) {
    double beyond = machine->llc.present  ? machine->llc.latency
                    : machine->l2.present ? machine->l2.latency
                                          : machine->l1d.latency;
    double alone = beyond + memory_latency(machine);
    return contended(machine) ? 2 * alone : alone;
}

/* Out of order it has to issue, complete and commit besides. */
static double mispredict(const struct machine *machine) {
    const struct machine_core *core = &machine->core;
    double front = machine->classes[OP_BRANCH].latency + core->redirect + core->frontend_depth;
    return core->in_order ? front : front + core->dispatch_to_issue + core->complete_to_commit + 1;
}

struct costs costs_of(const struct machine *machine) {
    struct costs costs = {
        .fill = fill(machine),
        .walk = (double)machine->l2tlb.latency + machine_walk_cycles(machine),
        .mispredict = mispredict(machine),
    };
    for (unsigned i = 0; i < OP_COUNT; i++)
        if (machine->classes[i].interval > costs.unit)
            costs.unit = machine->classes[i].interval;
    return costs;
}
