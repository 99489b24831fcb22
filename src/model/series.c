#include "model/series.h"

#include "core/multithreaded/penalties.h"

static double memory_cycles(const struct machine *machine) {
    const struct machine_dram *dram = &machine->dram;
    return dram->banked ? dram->base_latency +
                              (dram->trcd + dram->tcl) * machine->clock_ghz / dram->clock_ghz
                        : dram->latency;
}

double series_cycles(const struct machine *machine, const struct locality_events *events,
                     double reach, double misses) {
    const struct chip_penalties penalties = chip_penalties(machine);
    const struct machine_cache *shared = machine->llc.present ? &machine->llc : &machine->l2;
    double cycles =
        (double)events->turns + (double)events->long_cycles + (double)events->system_cycles;
    cycles += (double)events->mispredictions * penalties.mispredict;
    cycles += (double)events->late_branches * penalties.late_branch;
    cycles += ((double)events->dtlb_misses + (double)events->itlb_misses) * penalties.translation;
    cycles += (double)events->l1i_misses * (machine->l2.latency - 1.0) +
              (double)events->code_lines * memory_cycles(machine);
    if (machine->llc.present && machine->l2.present)
        cycles += ((double)events->l1d_misses - reach) * (machine->l2.latency - 1.0);
    return cycles + reach * (shared->latency - 1.0) + misses * memory_cycles(machine);
}
