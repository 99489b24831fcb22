/* Fetch from the stream of µops along the committed path: packets limited by width, by an aligned
 * block of bytes and by taken branches, cut by instruction cache and TLB misses. A mispredicted
 * branch stops fetch until it has executed; a flushing instruction, a system call or a signal until
 * it has committed (what a real core fetches, and squashes, meanwhile is not modelled). */
#include "core/ooo/ooo.h"

static void start_life(struct core *core, struct uop_state *uop) {
    struct life *life = life_of(core, uop);
    *life = (struct life){.bringer = UNKNOWN, .store_producer = UNKNOWN};
    for (uint32_t i = 0; i <= UOP_MAX_SOURCES; i++)
        life->producer[i] = UNKNOWN;
    life->insn_number = core->fetched_insns - 1;
    life->fetch = core->cycle;
    life->fetch_delay_cache = core->fetch_delay_cache;
    life->fetch_delay_tlb = core->fetch_delay_tlb;
}

/* Brings the line of `address` to the front end; false: fetch waits for it. */
static bool fetch_line(struct core *core, uint64_t address) {
    struct memory_result result;
    memory_fetch(core->memory, core->cycle, address, core->next, &result);
    core->progress = true;
    uint64_t hit = core->cycle + core->l1i_latency;
    if (result.events & MEMORY_MISSED_L1)
        core->fetch_psv |= PSV_DR_L1;
    if (result.events & MEMORY_MISSED_TLB)
        core->fetch_psv |= PSV_DR_TLB;
    if (result.ready <= hit)
        return true;
    uint32_t delay = (uint32_t)(result.ready - hit);
    core->fetch_delay_tlb = result.tlb_cycles < delay ? result.tlb_cycles : delay;
    core->fetch_delay_cache = delay - core->fetch_delay_tlb;
    core->fetch_resume = core->cycle + delay;
    return false;
}

/* Brings what the instruction at the head of the stream lies in; false: fetch waits. */
static bool lines_present(struct core *core, const struct stream_uop *stream) {
    uint32_t flags = stream->is.flags;
    const struct prepared_uop *uop = prepared_at(core, stream->static_uop);
    if (flags & U_NEW_LINE && !(core->fetch_lines & U_NEW_LINE)) {
        core->fetch_lines |= U_NEW_LINE;
        if (!fetch_line(core, uop->insn_address))
            return false;
    }
    if (flags & U_CROSSES_LINE && !(core->fetch_lines & U_CROSSES_LINE)) {
        core->fetch_lines |= U_CROSSES_LINE;
        if (!fetch_line(core, flags & U_FUSED ? stream->address
                                              : uop->insn_address + uop->insn_length - 1))
            return false;
    }
    core->fetch_lines = 0;
    return true;
}

static inline void enter(struct core *core, uint64_t sequence, const struct stream_uop *stream) {
    struct uop_state *uop = uop_at(core, sequence);
    uop->complete = UNKNOWN;
    uop->consumers = NO_LINK;
    uop->is = stream->is;
    uop->psv = (uint16_t)core->fetch_psv;
    core->fetch_psv = 0;
    if (core->lives)
        start_life(core, uop);
}

/* What a branch or a flushing instruction at the end of what was fetched does to fetch; true when
 * the packet ends with it. */
static bool ends_packet(struct core *core, uint32_t flags, uint32_t *taken) {
    struct uop_state *uop = uop_at(core, core->next - 1);
    if (flags & U_FLUSH) {
        uop->psv |= PSV_FL_EX;
        core->fetch_resume = UNKNOWN;
        return true;
    }
    if (flags & U_MISPREDICTED) {
        uop->psv |= PSV_FL_MB;
        core->fetch_resume = UNKNOWN;
        return true;
    }
    if (flags & U_LATE) {
        core->fetch_resume = core->cycle + 1 + core->btb_miss_penalty;
        return true;
    }
    if (core->taken_bubble) {
        core->fetch_resume = core->cycle + 1 + core->taken_bubble;
        return true;
    }
    return ++*taken >= core->machine.taken_branches;
}

static void fetch_packet(struct core *core) {
    uint64_t first = core->next;
    uint64_t end = core->tail + core->fetch_capacity;
    uint32_t width = core->machine.fetch_width, taken = 0;
    bool new_block = true; /* the next instruction may lie in another block */
    if (end > core->available)
        end = core->available;
    uint64_t next = first;
    while (next < end) {
        const struct stream_uop *stream = stream_at(core, next);
        uint32_t flags = stream->is.flags;
        if (flags & U_FIRST) {
            if (width-- == 0 || (flags & U_NEW_BLOCK && !new_block))
                break;
            new_block = false;
            core->next = next;
            if (flags & (U_NEW_LINE | U_CROSSES_LINE) && !lines_present(core, stream))
                break;
            core->fetched_insns++;
        }
        enter(core, next++, stream);
        if (flags & (U_MISPREDICTED | U_FLUSH | U_LATE | U_TAKEN)) {
            core->next = next;
            if (ends_packet(core, flags, &taken))
                break;
            new_block = true;
        }
    }
    core->next = next;
    if (core->next == first)
        return;
    core->progress = true;
    core->fetch_delay_cache = core->fetch_delay_tlb = 0;
    uop_at(core, core->next - 1)->is.flags |= U_PACKET_END;
    core->packets_used++;
    core->packets[core->packet_end++ & core->packet_mask] =
        (struct packet){core->next, core->cycle};
    if (core->tap_kinds & 1 << TAP_FETCH)
        for (uint64_t at = first; at < core->next; at += 255)
            tap_emit(core, TAP_FETCH, core->next - at < 255 ? (unsigned)(core->next - at) : 255);
}

void fetch_stage(struct core *core) {
    if (core->machine.fetch_target_queue && core->packets_used >= core->machine.fetch_target_queue)
        return;
    fetch_packet(core);
}
