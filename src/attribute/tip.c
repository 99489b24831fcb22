/* TIP, the time-proportional instruction profiler (paper A §3): Oracle's rules, through registers
 * that hardware can afford. */
#include "attribute/tip.h"
#include "attribute/profiler.h"

/* The offending instruction register: the youngest µop committed, or the one that excepts. An
 * ordering violation is an exception of the load: squashed with the rest, and executed again. */
struct offending_instruction {
    uint64_t uop;
    uint32_t flags; /* TIP_EXCEPTION, TIP_FLUSH or TIP_MISPREDICTED; 0: none of them */
};

/* What OIR Update has written by this cycle (Fig. A.5). */
static struct offending_instruction offending_instruction(const struct commit_view *view) {
    if (view->squashed)
        return (struct offending_instruction){view->uops[0], TIP_EXCEPTION};
    uint32_t flags = 0;
    if (view->state == STATE_FLUSHED)
        flags = tap_uop_psv(view->last_uop) & PSV_FL_MB ? TIP_MISPREDICTED : TIP_FLUSH;
    return (struct offending_instruction){view->last_uop, flags};
}

static void set_address(struct tip_registers *registers, unsigned bank, uint64_t uop) {
    registers->address[bank] = uop;
    registers->valid[bank / 64] |= 1ull << bank % 64;
}

/* Sample Selection (Fig. A.6). */
void tip_select(const struct commit_view *view, unsigned banks, struct tip_registers *registers) {
    bool computing = view->state == STATE_COMPUTING, stalled = view->state == STATE_STALLED;
    registers->flags = stalled ? TIP_STALLED : 0;
    registers->banks = banks > view->count ? banks : view->count;
    registers->oldest = (unsigned)(view->sequence % registers->banks);
    registers->valid[0] = registers->valid[1] = registers->valid[2] = registers->valid[3] = 0;
    registers->ready = 0;
    if (computing || stalled) { /* the head of the ROB */
        for (unsigned i = 0; i < (computing ? view->count : 1); i++)
            set_address(registers, (registers->oldest + i) % registers->banks, view->uops[i]);
        return;
    }
    struct offending_instruction offending = offending_instruction(view);
    if (offending.flags) {
        registers->flags = offending.flags;
        registers->oldest = 0;
        set_address(registers, 0, offending.uop);
    } else { /* written when the first µop dispatches */
        registers->flags = TIP_FRONT_END;
        registers->ready = view->enters;
        set_address(registers, registers->oldest, view->uops[0]);
    }
}

unsigned tip_attribute(const struct tip_registers *registers, uint64_t *uops) {
    if (registers->flags) { /* Stalled, Flushed, Drained: the oldest gets the whole sample */
        uops[0] = registers->address[registers->oldest];
        return 1;
    }
    unsigned count = 0, bank = registers->oldest;
    do {
        if (tip_valid(registers, bank))
            uops[count++] = registers->address[bank];
        bank = bank + 1 < registers->banks ? bank + 1 : 0;
    } while (bank != registers->oldest);
    return count;
}

static unsigned at_commit(const struct commit_view *view, uint64_t *uops) {
    struct tip_registers registers;
    tip_select(view, view->count, &registers);
    return tip_attribute(&registers, uops);
}

/* Paper A §3.2: the OIR, an address and three flags; registers of 8 bytes for the cycle, the flags
 * and an address per bank. */
uint32_t tip_storage_bytes(const struct machine_core *core) {
    enum { OIR = (64 + 3 + 7) / 8, REGISTER = 8 };
    return OIR + (2 + core->commit_width) * REGISTER;
}

const struct profiler tip_profiler = {
    .name = "TIP",
    .description = "time-proportional: by commit state, from the head of the ROB or the offending "
                   "instruction",
    .section = "paper A §3",
    .at_commit = at_commit,
    .wide = true,
    .storage_bytes = tip_storage_bytes,
};
