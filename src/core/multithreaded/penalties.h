/* How long a thread of a chip waits for what suspends it, when no other thread is in its way:
 * cycles beyond the one that every turn to issue takes. chip.h has the rules; these are the sums,
 * in one place for the chip and for models of it. */
#pragma once

#include <stdint.h>

#include "machine/machine.h"
#include "trace/dynamic.h"

struct chip_penalties {
    uint32_t l1_hit; /* a load that hits the L1D */
    uint32_t l2_hit; /* a load or store that misses the L1D and hits the L2 */
    uint32_t memory; /* that misses both */
    uint32_t fetch;  /* a line of instructions from the L2; dram.latency more from memory */
    uint32_t
        translation; /* a page that the TLB does not hold; of data, another turn is part of it */
    uint32_t mispredict;
    uint32_t late_branch;  /* whose target is known only at decode */
    uint32_t taken_branch; /* any other that is predicted right */
    uint32_t flush, system_call;
};

static inline struct chip_penalties chip_penalties(const struct machine *machine) {
    const struct machine_core *core = &machine->core;
    return (struct chip_penalties){.l1_hit = machine->l1d.latency - 1,
                                   .l2_hit = machine->l2.latency - 1,
                                   .memory = machine->l2.latency + machine->dram.latency - 1,
                                   .fetch = machine->l2.latency - 1,
                                   .translation = machine_walk_cycles(machine),
                                   .mispredict = machine->classes[OP_BRANCH].latency +
                                                 core->redirect + core->frontend_depth - 1,
                                   .late_branch = machine->branch.btb_miss_penalty,
                                   .taken_branch = machine->branch.taken_bubble,
                                   .flush = core->flush_penalty + core->frontend_depth - 1,
                                   .system_call = core->syscall_cycles + core->frontend_depth - 1};
}

/* The latency of an operation that takes more than one cycle: the longest among its µops, except
 * for loads and stores, whose time is that of the caches. */
static inline uint32_t chip_long_penalty(const struct machine *machine, const struct code *code,
                                         const struct static_insn *insn) {
    uint32_t latency = 1;
    for (uint32_t i = 0; i < insn->uop_count; i++) {
        uint8_t operation = code->uops[insn->first_uop + i].operation;
        if (operation != OP_LOAD && operation != OP_STORE && operation != OP_NOP &&
            machine->classes[operation].latency > latency)
            latency = machine->classes[operation].latency;
    }
    return latency - 1;
}

/* Lines that an access touches, each of which takes a turn. */
static inline uint64_t chip_lines(const struct memory_access *access, uint32_t line_shift) {
    uint64_t offset = access->address & ((1u << line_shift) - 1);
    return ((offset + access->size_bytes - 1) >> line_shift) + 1;
}
