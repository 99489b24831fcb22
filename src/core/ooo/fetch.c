/* Fetch from the stream of µops along the committed path: packets limited by width, by an aligned
 * block of bytes and by taken branches, cut by instruction cache and TLB misses. A mispredicted
 * branch stops fetch until it has executed; a flushing instruction, a system call or a signal until
 * it has committed (what a real core fetches, and squashes, meanwhile is not modelled).
 *
 * Only marked µops are looked at, those where a packet may have to end or a line begins; where the
 * width ends is read off from the places at which instructions begin. Both are found ahead
 * (order.c). */
#include "core/ooo/ooo.h"

/* Brings the line of `address` to the front end for the next µop; false: fetch waits for it. */
static bool fetch_line(struct ooo *core, uint64_t address) {
    core->progress = true;
    if (memory_fetch_hits(core->memory, core->cycle, address))
        return true;
    struct memory_result result;
    memory_fetch(core->memory, core->cycle, address, core->next, &result);
    uint64_t hit = core->cycle + core->l1i_latency;
    if (result.events & MEMORY_MISSED_L1)
        front_end_of(core, core->next)->psv |= PSV_DR_L1;
    if (result.events & MEMORY_MISSED_TLB)
        front_end_of(core, core->next)->psv |= PSV_DR_TLB;
    if (result.ready <= hit)
        return true;
    uint32_t delay = (uint32_t)(result.ready - hit);
    uint32_t tlb = result.tlb_cycles < delay ? result.tlb_cycles : delay;
    core->fetch_delay_tlb += tlb;
    core->fetch_delay_cache += delay - tlb;
    core->fetch_resume = core->cycle + delay;
    return false;
}

/* Brings what the instruction at the head of the stream lies in; false: fetch waits. */
static bool lines_present(struct ooo *core, const struct stream_uop *stream) {
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

/* What a branch or a flushing instruction at the end of what was fetched does to fetch; true when
 * the packet ends with it. */
static bool ends_packet(struct ooo *core, uint32_t flags, uint32_t *taken) {
    if (flags & (U_FLUSH | U_MISPREDICTED)) {
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

/* Where the packet ends if nothing on the way ends it: by width, by the room behind fetch, by the
 * end of the stream. */
static uint64_t packet_limit(const struct ooo *core) {
    uint64_t limit = core->tail + core->fetch_capacity;
    uint64_t insn = core->fetched_insns + core->machine.fetch_width;
    uint64_t width_end = core->available;
    if (insn < core->available_insns)
        width_end = core->insn_starts[insn & core->stream_mask];
    return limit < width_end ? limit : width_end;
}

/* Extends the packet from core->next on, from one mark to the next. */
static void extend_packet(struct ooo *core) {
    uint64_t limit = packet_limit(core);
    uint16_t before = (uint16_t)core->fetched_insns; /* instructions, in the last block met */
    uint32_t taken = 0;
    for (; core->next_mark < core->available_marks; core->next_mark++) {
        uint64_t mark = core->marks[core->next_mark & core->stream_mask];
        if (mark >= limit)
            break;
        const struct stream_uop *stream = stream_at(core, mark);
        uint16_t insns = order_at(core, mark)->insns;
        uint32_t flags = stream->is.flags;
        core->next = mark;
        if (flags & U_NEW_BLOCK && (uint16_t)(insns - before) != 1)
            return;
        if (flags & (U_NEW_LINE | U_CROSSES_LINE) && !lines_present(core, stream))
            return;
        core->next = mark + 1;
        if (flags & U_ENDS_PACKET) {
            if (ends_packet(core, flags, &taken)) {
                core->next_mark++;
                return;
            }
            before = insns;
        }
    }
    core->next = limit;
}

static void fetch_packet(struct ooo *core) {
    uint64_t first = core->next;
    uint32_t cache = core->fetch_delay_cache, tlb = core->fetch_delay_tlb;
    extend_packet(core);
    if (core->next == first)
        return;
    uint16_t insns = order_at(core, core->next - 1)->insns;
    core->fetched_insns += (uint16_t)(insns - core->fetched_insns);
    core->progress = true;
    core->fetch_delay_cache -= cache; /* what a line on the way added, the next packet waits for */
    core->fetch_delay_tlb -= tlb;
    core->packets[core->packet_end++ & core->packet_mask] =
        (struct packet){core->next, core->cycle + core->machine.frontend_depth, cache, tlb};
    core->packets[core->packet_end & core->packet_mask].arrives = UNKNOWN;
    if (core->tap_kinds & 1 << TAP_FETCH)
        for (uint64_t at = first; at < core->next; at += 255)
            tap_emit(core, TAP_FETCH, core->next - at < 255 ? (unsigned)(core->next - at) : 255);
}

/* Room for a packet more, once those that have committed are let go. */
static bool packet_room(struct ooo *core) {
    if (core->packet_end - core->packet_oldest < core->packet_limit)
        return true;
    while (core->packet_oldest != core->packet_head &&
           core->packets[core->packet_oldest & core->packet_mask].end <= core->head)
        core->packet_oldest++;
    return core->packet_end - core->packet_oldest < core->packet_limit;
}

void fetch_stage(struct ooo *core) {
    if (packet_room(core))
        fetch_packet(core);
}
