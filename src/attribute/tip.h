/* TIP's registers (paper A §3.1, Figs A.5 and A.6), which TEA shares (paper B §3, Fig. B.4).
 *
 * The reorder buffer has as many banks as µops can commit in a cycle; µop s lies in bank s % banks.
 * An address register holds a whole tap_uop word: the address (as static instruction) and, for TEA,
 * the signature. */
#pragma once

#include "attribute/commit_view.h"
#include "machine/machine.h"

enum tip_flags {
    TIP_STALLED = 1 << 0, /* no µop committed in the cycle, the ROB was not empty */
    TIP_EXCEPTION = 1 << 1,
    TIP_FLUSH = 1 << 2,
    TIP_MISPREDICTED = 1 << 3,
    TIP_FRONT_END = 1 << 4 /* the ROB was empty, and no flag of the offending instruction set */
};

struct tip_registers {
    uint32_t flags;
    unsigned banks, oldest; /* Oldest ID: the bank of the oldest µop */
    uint64_t valid[(COMMIT_GROUP_MAX + 63) / 64];
    uint64_t address[COMMIT_GROUP_MAX]; /* those with a valid bit are set */
    /* When the sample is complete, and raises the interrupt; 0: in the cycle it was taken in. */
    uint64_t ready;
};

static inline bool tip_valid(const struct tip_registers *registers, unsigned bank) {
    return registers->valid[bank / 64] >> bank % 64 & 1;
}

/* Sample selection. `banks` is the commit width; a core that is idealised commits more at once and
 * has as many banks. In the Stalled state only the oldest address is kept: the others are never
 * used. */
void tip_select(const struct commit_view *view, unsigned banks, struct tip_registers *registers);
/* The same, complete only once the µop at the head has its whole signature. */
void tea_select(const struct commit_view *view, unsigned banks, struct tip_registers *registers);

/* What software makes of the registers: the µops that share the sample, oldest first. */
unsigned tip_attribute(const struct tip_registers *registers, uint64_t *uops);

uint32_t tip_storage_bytes(const struct machine_core *core); /* as profiler_storage_bytes() */
