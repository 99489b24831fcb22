/* Averages over all samples, since there is none of the instruction itself. */
#include "shotgun/infer.h"

static uint16_t cycles(double count) {
    return count < GRAPH_FAR ? (uint16_t)count : GRAPH_FAR;
}

/* Cycles beyond the L1 of an access that misses it, and, if `far`, the L2. */
static uint16_t machine_miss(const struct machine *machine, uint32_t l1_latency, bool far) {
    double beyond = machine->l2.present ? machine->l2.latency : 0;
    if (far && machine->llc.present) {
        beyond = machine->llc.latency;
    } else if (far || !machine->l2.present) {
        const struct machine_dram *dram = &machine->dram;
        double row = dram->clock_ghz > 0 ? (dram->tcl + dram->trcd) / dram->clock_ghz : 0;
        beyond += dram->banked ? dram->base_latency + row * machine->clock_ghz : dram->latency;
    }
    return cycles(beyond > l1_latency ? beyond - l1_latency : 0);
}

struct shotgun_guess shotgun_guess_of(const struct shotgun_database *database,
                                      const struct machine *machine) {
    struct {
        uint64_t cycles, count;
    } fetch = {0, 0}, near = {0, 0}, far = {0, 0};
    for (size_t i = 0; i < database->uop_count; i++) {
        const struct shotgun_uop *uop = &database->uops[i];
        fetch.cycles += uop->fetch_cache;
        fetch.count += uop->fetch_cache > 0;
        near.cycles += uop->level == LEVEL_L2 ? uop->miss : 0;
        near.count += uop->level == LEVEL_L2;
        far.cycles += uop->level > LEVEL_L2 ? uop->miss : 0;
        far.count += uop->level > LEVEL_L2;
    }
    return (struct shotgun_guess){
        .fetch_miss = fetch.count ? (uint16_t)(fetch.cycles / fetch.count)
                                  : machine_miss(machine, machine->l1i.latency, false),
        .near_miss = near.count ? (uint16_t)(near.cycles / near.count)
                                : machine_miss(machine, machine->l1d.latency, false),
        .far_miss = far.count ? (uint16_t)(far.cycles / far.count)
                              : machine_miss(machine, machine->l1d.latency, true),
        .far_level = machine->llc.present ? LEVEL_LLC : LEVEL_DRAM};
}

struct shotgun_uop shotgun_infer(const struct shotgun_guess *guess, const struct graph_uop *uop,
                                 unsigned signature, bool branch) {
    struct shotgun_uop inferred = {.store_insn = SHOTGUN_NONE, .execution = uop->execution};
    bool load = uop->flags & GRAPH_LOAD, far = !(signature & SIGNATURE_1);
    if (!(signature & SIGNATURE_2))
        return inferred;
    if (load && (far || !branch)) {
        inferred.miss = far ? guess->far_miss : guess->near_miss;
        inferred.level = far ? guess->far_level : LEVEL_L2;
    } else if (branch && uop->flags & GRAPH_LAST) {
        inferred.flags = GRAPH_MISPREDICTED;
    } else if (!branch && !load && uop->flags & GRAPH_FIRST) {
        inferred.fetch_cache = guess->fetch_miss;
    }
    return inferred;
}
