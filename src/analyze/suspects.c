#include "analyze/suspects.h"

#include "core/stall_causes.h"

#define BIT(cause) (UINT32_C(1) << (cause))

uint32_t before_count(const struct cfg *cfg, uint32_t insn) {
    const struct cfg_block *block = &cfg->blocks[cfg->insns[insn].block];
    return insn != block->first_insn ? 1
                                     : block->in_count + ((cfg->flags & CFG_MISSING_EDGES) != 0);
}

static struct before behind(const struct cfg *cfg, uint32_t insn, uint32_t edge) {
    return (struct before){insn, edge,
                           insn_calls(&cfg->insns[insn].insn) ? BEFORE_CALLEE : BEFORE_INSN};
}

struct before before_at(const struct cfg *cfg, uint32_t insn, uint32_t index) {
    const struct cfg_block *block = &cfg->blocks[cfg->insns[insn].block];
    if (insn != block->first_insn)
        return behind(cfg, insn - 1, CFG_NONE);
    if (index == block->in_count)
        return (struct before){CFG_NONE, CFG_NONE, BEFORE_JUMP};
    uint32_t edge = cfg->in_edges[block->first_in + index], from = cfg->edges[edge].from;
    if (from == CFG_NONE)
        return (struct before){CFG_NONE, edge, BEFORE_OUTSIDE};
    return behind(cfg, cfg->blocks[from].first_insn + cfg->blocks[from].insn_count - 1, edge);
}

/* ---- what is predicted ---- */

static bool may_mispredict(const struct machine *machine, enum branch_kind kind) {
    const struct machine_branch *branch = &machine->branch;
    if (branch->direction == DIRECTION_PERFECT)
        return false;
    switch (kind) {
    case BRANCH_CONDITIONAL:
    case BRANCH_RETURN:
        return true;
    case BRANCH_INDIRECT:
    case BRANCH_INDIRECT_CALL:
        return branch->btb_entries || branch->indirect_entries;
    default:
        return false;
    }
}

static uint32_t predicted(const struct machine *machine, enum branch_kind kind) {
    return may_mispredict(machine, kind) ? BIT(STALL_MISPREDICT) : 0;
}

/* ---- the rules ---- */

static uint32_t behind_insn(const struct machine *machine, const struct insn *insn) {
    uint32_t held = INSN_FLUSHING | INSN_SYSCALL;
    if (!machine->core.in_order)
        held |= INSN_SERIALISING | INSN_FENCE_LOAD;
    return predicted(machine, insn->branch) | (insn->flags & held ? BIT(STALL_SYNCHRONISATION) : 0);
}

uint32_t suspects_before(const struct cfg *cfg, const struct machine *machine,
                         const struct before *before) {
    switch ((enum before_kind)before->kind) {
    case BEFORE_INSN:
        return behind_insn(machine, &cfg->insns[before->insn].insn);
    case BEFORE_CALLEE:
        return predicted(machine, BRANCH_RETURN);
    case BEFORE_JUMP:
        return predicted(machine, BRANCH_INDIRECT);
    case BEFORE_OUTSIDE:
        break;
    }
    bool called = cfg->edges[before->edge].kind == EDGE_ENTRY;
    return predicted(machine, called ? BRANCH_INDIRECT_CALL : BRANCH_CONDITIONAL);
}

/* Lines that an access may touch: two where nothing keeps it within one. */
static uint32_t lines_of_access(const struct insn *insn) {
    return insn->isa == ISA_RISCV64 ? 1 : 2;
}

/* Whether all miss registers may be taken: by older loads that are on their way, and the line being
 * written. */
static bool registers_may_lack(const struct cfg *cfg, const struct machine *machine, uint32_t insn,
                               uint32_t outstanding) {
    const struct machine_cache *l1d = &machine->l1d;
    if (l1d->mshrs == 0)
        return false;
    if (!machine->core.in_order || machine_prefetches(l1d))
        return true;
    uint32_t lines = lines_of_access(&cfg->insns[insn].insn);
    return lines * (outstanding + 1) + 1 > l1d->mshrs;
}

static uint32_t load_causes(const struct cfg *cfg, const struct machine *machine, uint32_t insn,
                            uint32_t outstanding) {
    uint32_t causes = 0;
    if (cfg->insns[insn].insn.flags & INSN_PREFETCH)
        return 0; /* nobody waits for it; dropped where no register is free */
    if (registers_may_lack(cfg, machine, insn, outstanding))
        causes |= BIT(STALL_MISS_REGISTERS);
    if (!machine->core.in_order)
        causes |= suspects_fed(machine, FEED_LOAD);
    return causes;
}

static uint32_t store_causes(const struct machine *machine) {
    bool translates = !machine->core.in_order && machine->dtlb.entries;
    return BIT(STALL_WRITE_BUFFER) | (translates ? BIT(STALL_DTLB) : 0);
}

uint32_t suspects_itself(const struct cfg *cfg, const struct machine *machine, uint32_t insn,
                         uint32_t outstanding) {
    const struct insn *it = &cfg->insns[insn].insn;
    uint32_t orders = INSN_SERIALISING | INSN_FENCE_STORE;
    if (!machine->core.in_order)
        orders |= INSN_FENCE_LOAD | INSN_ATOMIC;
    uint32_t causes = it->flags & orders ? BIT(STALL_SYNCHRONISATION) : 0;
    for (unsigned i = 0; i < it->memory_count; i++) {
        causes |= it->memory[i].is_load ? load_causes(cfg, machine, insn, outstanding) : 0;
        causes |= it->memory[i].is_store ? store_causes(machine) : 0;
    }
    return causes;
}

uint32_t suspects_fed(const struct machine *machine, enum feed_kind kind) {
    switch (kind) {
    case FEED_LINE:
        return BIT(STALL_IMISS);
    case FEED_PAGE:
        return BIT(STALL_ITLB);
    case FEED_UNIT:
        return BIT(STALL_UNIT);
    case FEED_LOAD:
        break;
    }
    return BIT(STALL_DMISS) | (machine->dtlb.entries ? BIT(STALL_DTLB) : 0);
}
