/* Fetch, along the committed path: packets limited by width, by an aligned block of bytes, by taken
 * branches, by the room behind fetch, and cut by instruction cache and TLB misses. A mispredicted
 * branch stops fetch until it has executed; a flushing instruction, a system call or a signal until
 * it has committed (what a real core fetches, and squashes, meanwhile is not modelled). */
#pragma once

#include "core/ooo/loads_stores.h"

/* The open packet, if there is one, takes no more µops: its last is the last that committed. */
static inline void close_packet(struct ooo *core, struct standing *now) {
    core->packet_commit[now->packet & core->mask] = now->commit;
    now->packet += now->packet_filled;
    now->packet_filled = false;
    now->packet_room = 0;
}

/* Prediction is done with a block of code in a cycle, up to a taken branch or the end of a fetch
 * block, and with the bubble of its branch. A block is predicted with the one
 * before where that ends in a direct jump, and itself in a direct branch, or in a direct call, and
 * itself in a direct jump, up to prediction_width at once. Fetch
 * takes what is predicted; prediction is ahead of it by so many cycles at most. `bubble`: of the
 * branch (enum block_end); 0: there is none. */
static inline void predict_next(const struct ooo *core, struct standing *now, uint32_t bubble) {
    const uint64_t fetched = now->packet_cycle, ahead = core->prediction_ahead;
    if (now->predicted_blocks < core->prediction_width && bubble & now->follower) {
        now->predicted_blocks++;
    } else {
        const uint64_t earliest = fetched > ahead ? fetched - ahead : 0;
        now->predicted = later(now->predicted, earliest) + 1 + (bubble & BUBBLE_CYCLES);
        now->predicted_blocks = 1;
    }
    now->follower = bubble >> LEADS & (FOLLOWS_JUMP | FOLLOWS_CALL);
}

/* Instructions that the packet of this cycle takes. Decoding goes on across packets: what one that
 * a branch or its block ended has left, the next one has besides, if it is of the next cycle. */
static inline uint32_t width_of(const struct ooo *core, const struct standing *now,
                                uint64_t cycle) {
    const struct machine_core *machine = &core->machine;
    if (__builtin_expect(!now->decoding, 1))
        return machine->fetch_width;
    const bool follows = now->packet_insns && cycle == now->packet_cycle + 1;
    const uint32_t left = follows ? now->fetch_width - now->packet_insns : 0;
    return (uint32_t)lesser(machine->decode_width + left, machine->fetch_width);
}

/* A packet of its own cycle: after the one before, when fetch may go on, when it is predicted, when
 * there is room in the fetch buffer and in the fetch target queue, which keeps a packet until its
 * last µop commits. `flags`: of its first µop. */
STAGE void open_packet(struct ooo *core, struct standing *now, uint64_t room, uint32_t flags) {
    const bool empty = now->packet_room && !now->packet_filled;
    if (now->packet_filled && flags & U_NEW_BLOCK)
        predict_next(core, now, 0);
    close_packet(core, now);
    uint64_t cycle = later(later(now->packet_cycle + 1, now->fetch_resume), room);
    cycle = later(cycle, now->predicted);
    if (core->packet_limit && now->packet >= core->packet_limit)
        cycle = later(cycle, core->packet_commit[(now->packet - core->packet_limit) & core->mask]);
    now->fetch_width = width_of(core, now, cycle);
    now->packet_cycle = cycle;
    now->packet_room = cycle + 1;
    now->packet_ends = now->packet_insns = now->packet_taken = 0;
    drain_until(core, cycle);
    memory_advance(core->memory, cycle); /* nothing to come is earlier */
    now->delay_cache = (empty ? now->delay_cache : 0) + now->next_delay_cache;
    now->delay_tlb = (empty ? now->delay_tlb : 0) + now->next_delay_tlb;
    now->next_delay_cache = now->next_delay_tlb = 0;
}

/* A line that is not there, or not settled: what its access says. */
static __attribute__((noinline)) struct memory_result miss_line(struct ooo *core, uint64_t cycle,
                                                                uint64_t at, uint64_t address) {
    struct memory_result result;
    memory_fetch(core->memory, cycle, address, at, &result);
    return result;
}

/* Cycles since prediction asked for the line that is fetched next: when the one so many before it
 * was fetched, or, if that was on another path, when it came to this one. */
static inline uint64_t lead_of(const struct ooo *core, const struct standing *now, uint64_t cycle) {
    if (!core->lines_ahead)
        return 0;
    const uint64_t before = now->lines - core->lines_ahead;
    const uint64_t asked =
        later(core->line_cycles[before % MACHINE_MOST_LINES_AHEAD], now->redirected);
    return asked < cycle ? cycle - asked : 0; /* squashed work may have noted a later one */
}

static inline void note_line(struct ooo *core, struct standing *now, uint64_t cycle) {
    if (core->lines_ahead)
        core->line_cycles[now->lines++ % MACHINE_MOST_LINES_AHEAD] = cycle;
}

/* Brings the line of an address to the front end for this µop. It may come so late that the µop
 * begins another packet. What prediction asked for in time has missed nothing. */
STAGE void fetch_line(struct ooo *core, struct standing *now, uint64_t at, uint64_t address,
                      uint64_t room, struct uop_cycles *uop) {
    const uint64_t cycle = now->packet_cycle;
    now->line_spared = core->has_op_cache && !now->decoding;
    if (now->line_spared || memory_fetch_hits(core->memory, cycle, address)) {
        note_line(core, now, cycle);
        return;
    }
    const struct memory_result result = miss_line(core, cycle, at, address);
    const uint64_t lead = lead_of(core, now, cycle), hit = cycle + core->l1i_latency + lead;
    note_line(core, now, cycle + later(result.ready, hit) - hit);
    if (lead && result.ready <= hit)
        return;
    if (result.events & MEMORY_MISSED_L1)
        uop->psv |= PSV_DR_L1;
    if (result.events & MEMORY_MISSED_TLB)
        uop->psv |= PSV_DR_TLB;
    if (result.ready <= hit)
        return;
    const uint32_t delay = (uint32_t)(result.ready - hit);
    const uint32_t walk = (uint32_t)(later(result.tlb_cycles, lead) - lead);
    const uint32_t tlb = walk < delay ? walk : delay;
    now->next_delay_tlb += tlb;
    now->next_delay_cache += delay - tlb;
    now->fetch_resume = cycle + delay;
    open_packet(core, now, room, 0);
}

/* The lines that an instruction begins and ends in, where the one before did not. */
STAGE void fetch_lines(struct ooo *core, struct standing *now, uint64_t at,
                       const struct stream_uop *stream, uint32_t flags, uint64_t room,
                       struct uop_cycles *uop) {
    const struct prepared_uop *prepared = stream->operands;
    const uint64_t begin = prepared->insn_address;
    const uint64_t last = flags & U_FUSED ? stream->address : begin + prepared->insn_length - 1;
    if (flags & U_NEW_LINE)
        fetch_line(core, now, at, begin, room, uop);
    if (flags & U_CROSSES_LINE)
        fetch_line(core, now, at, last, room, uop);
}

/* Fetch goes over from the op cache to the decoders, or back: what it takes from either is of
 * cycles of their own. What is decoded is there some cycles later: all of these where fetch begins
 * anew. */
static __attribute__((noinline)) void switch_decoding(struct ooo *core, struct standing *now,
                                                      bool decoding, uint64_t room,
                                                      uint32_t flags) {
    const struct machine_core *machine = &core->machine;
    if (now->packet_filled && machine->decode_width < NO_LIMIT)
        open_packet(core, now, room, flags);
    now->decoding = decoding;
    now->packet_insns = 0;
    now->fetch_width = width_of(core, now, now->packet_cycle);
    const bool anew = now->packet == now->restart_packet && !now->packet_filled;
    const uint32_t delay = anew ? machine->decode_restart : machine->decode_switch;
    if (decoding && delay) {
        now->next_delay_cache += delay;
        now->fetch_resume = now->packet_cycle + delay;
        open_packet(core, now, room, flags);
    }
}

/* Of what is decoded: an instruction in another block of bytes than the packet's first is decoded
 * in another cycle. */
STAGE void fetch_bytes(struct ooo *core, struct standing *now, uint64_t address, uint64_t room,
                       uint32_t flags) {
    if (now->packet_filled && (now->packet_address ^ address) & core->decode_mask)
        open_packet(core, now, room, flags);
    if (!now->packet_filled)
        now->packet_address = address;
}

/* The line of what is decoded, which began with what the op cache has. Returns the events. */
static __attribute__((noinline)) uint16_t fetch_spared_line(struct ooo *core, struct standing *now,
                                                            uint64_t at, uint64_t address,
                                                            uint64_t room) {
    struct uop_cycles uop = {.psv = 0};
    now->lines--; /* it was noted as it began */
    fetch_line(core, now, at, address, room, &uop);
    return uop.psv;
}

/* The cycle in which the µop is fetched. */
STAGE void fetch_stage(struct ooo *core, struct standing *now, uint64_t at,
                       const struct stream_uop *stream, uint32_t flags, struct uop_cycles *uop) {
    const uint64_t room = core->earlier.fetch[place_of(core, at)];
    if (room >= now->packet_room || flags & now->packet_ends)
        open_packet(core, now, room, flags);
    if (__builtin_expect(core->has_op_cache, 0) && (stream->decoded | now->decoding)) {
        if (stream->decoded != now->decoding)
            switch_decoding(core, now, stream->decoded, room, flags);
        if (now->decoding && flags & U_FIRST) {
            const uint64_t address = stream->operands->insn_address;
            fetch_bytes(core, now, address, room, flags);
            if (now->line_spared && !(flags & U_NEW_LINE))
                uop->psv |= fetch_spared_line(core, now, at, address, room);
        }
    }
    if (flags & (U_NEW_LINE | U_CROSSES_LINE))
        fetch_lines(core, now, at, stream, flags, room, uop);
    if (flags & U_FIRST) {
        now->insns++;
        now->packet_insns++;
        now->packet_ends = U_NEW_BLOCK | (now->packet_insns == now->fetch_width ? U_FIRST : 0);
    }
    now->packet_filled = true;
    uop->fetch = now->packet_cycle;
}

/* What a branch or a flushing instruction does to what is fetched behind it. `bubble`: of a taken
 * branch; 0: it is none. */
static inline void redirect_fetch(struct ooo *core, struct standing *now, uint32_t flags,
                                  uint32_t bubble, const struct uop_cycles *uop) {
    const struct machine_core *machine = &core->machine;
    if (flags & U_FLUSH) {
        resume_fetch(now, uop->commit + machine_flush_cycles(machine, flags & U_SYSCALL,
                                                             flags & U_SERIAL_END));
    } else if (flags & U_MISPREDICTED) {
        resume_fetch(now, uop->complete + machine->redirect);
    } else if (flags & U_LATE) {
        resume_fetch(now, now->packet_cycle + 1 + core->btb_miss_penalty);
        now->decoding = core->has_op_cache; /* that is part of it */
    } else if (!(bubble & BUBBLE_CYCLES) && ++now->packet_taken < machine->taken_branches) {
        now->packet_ends &= ~(uint32_t)U_NEW_BLOCK; /* and goes on in another block */
        return;
    } else {
        predict_next(core, now, bubble);
    }
    close_packet(core, now);
}
