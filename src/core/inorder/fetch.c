/* Fetch: packets of at most fetch_width instructions of one aligned block, up to a taken branch, as
 * long as the fetch buffer has room; and the order of events that ask memory. */
#include "core/inorder/inorder.h"
#include "core/stall_causes.h"

static uint64_t line_of(const struct inorder *core, uint64_t address) {
    return address / core->machine.l1i.line;
}

/* Fetches a line at the cycle of fetch. False: it arrives later, and so does the packet. */
static bool bring_line(struct inorder *core, struct inorder_uop *uop, uint64_t address) {
    struct memory_result result;
    uint64_t now = core->fetch_cycle, hit = now + core->machine.l1i.latency;
    core->line = line_of(core, address);
    if (!core->machine.l1i.present || memory_fetch_hits(core->learned.memory, now, address))
        return true;
    memory_fetch(core->learned.memory, now, address, core->fetched, &result);
    if (result.events & MEMORY_MISSED_L1) {
        uop->psv |= PSV_DR_L1;
        stall_causes_count(core->causes, uop->insn, EVENT_IMISS);
    }
    if (result.events & MEMORY_MISSED_TLB) {
        uop->psv |= PSV_DR_TLB;
        stall_causes_count(core->causes, uop->insn, EVENT_ITLB);
    }
    if (result.ready <= hit)
        return true;
    uint32_t delay = (uint32_t)(result.ready - hit);
    uint32_t tlb = result.tlb_cycles < delay ? result.tlb_cycles : delay;
    core->delay.tlb += tlb;
    core->delay.cache += delay - tlb;
    core->fetch_cycle = now + delay;
    return false;
}

/* Whether the lines that the packet's first instruction lies in have arrived. */
static bool lines_present(struct inorder *core, struct inorder_uop *uop) {
    uint64_t last = uop->pc + uop->length - 1;
    if (!(uop->flags & I_REACHED)) {
        uop->flags |= I_REACHED;
        if (line_of(core, uop->pc) != core->line && !bring_line(core, uop, uop->pc))
            return false;
    }
    return line_of(core, last) == core->line || bring_line(core, uop, last);
}

static bool same_block(const struct inorder *core, uint64_t a, uint64_t b) {
    uint32_t bytes = core->machine.core.fetch_bytes;
    return bytes == 0 || a / bytes == b / bytes;
}

/* How the end of a packet delays the next one. */
static void end_packet(struct inorder *core, uint32_t flags) {
    const struct machine_branch *branch = &core->machine.branch;
    core->fetch_cycle++;
    if (flags & (I_MISPREDICTED | I_FLUSH))
        core->fetch_cycle = UNKNOWN;
    else if (flags & I_LATE)
        core->fetch_cycle += branch->btb_miss_penalty;
    else if (flags & I_TAKEN)
        core->fetch_cycle += branch->taken_bubble;
}

static void fetch_packet(struct inorder *core) {
    struct inorder_uop *first = uop_at(core, core->fetched);
    if (!lines_present(core, first))
        return;
    const struct machine_core *machine = &core->machine.core;
    uint64_t arrives = core->fetch_cycle + machine->frontend_depth;
    uint64_t limit =
        core->fetched + PACKET_UOPS < core->end ? core->fetched + PACKET_UOPS : core->end;
    bool bandwidth = !(core->ideal & IDEAL_BW);
    uint32_t insns = 0, flags = 0;
    core->delays[++core->packet % INPUT_UOPS] = core->delay;
    core->delay = (struct front_delay){0, 0};
    for (; core->fetched < limit; core->fetched++) {
        struct inorder_uop *uop = uop_at(core, core->fetched);
        if (uop->flags & I_FIRST && uop != first &&
            (line_of(core, uop->pc) != core->line ||
             line_of(core, uop->pc + uop->length - 1) != core->line ||
             (bandwidth &&
              (insns == machine->fetch_width || !same_block(core, uop->pc, first->pc)))))
            break;
        insns += (uop->flags & I_FIRST) != 0;
        uop->arrives = arrives;
        uop->packet = core->packet;
        flags = uop->flags;
        if (flags & (I_MISPREDICTED | I_FLUSH | I_LATE | I_TAKEN)) {
            core->fetched++;
            break;
        }
        flags = 0;
    }
    end_packet(core, flags);
}

static bool has_room(const struct inorder *core) {
    return core->ideal & IDEAL_BW || core->fetched - core->head + core->machine.core.fetch_width <=
                                         core->machine.core.fetch_buffer;
}

void inorder_room(struct inorder *core, uint64_t cycle) {
    if (!core->starved || !has_room(core))
        return;
    core->starved = false;
    if (core->fetch_cycle != UNKNOWN && core->fetch_cycle < cycle)
        core->fetch_cycle = cycle;
}

/* The cycle of the next packet; UNKNOWN: something else must happen before it. */
static uint64_t next_fetch(struct inorder *core) {
    if (core->fetched == core->end || core->fetched - core->head >= core->lookahead)
        return UNKNOWN;
    core->starved |= !has_room(core);
    return core->starved ? UNKNOWN : core->fetch_cycle;
}

void inorder_advance(struct inorder *core, uint64_t cycle) {
    for (;;) {
        uint64_t fetch = next_fetch(core), write = inorder_next_write(core);
        if (fetch <= write && fetch <= cycle)
            fetch_packet(core);
        else if (write <= cycle)
            inorder_write(core);
        else
            return;
    }
}

void inorder_fetch_head(struct inorder *core) {
    while (core->fetched == core->head) {
        assert(core->fetch_cycle != UNKNOWN);
        inorder_advance(core, core->fetch_cycle);
    }
}
