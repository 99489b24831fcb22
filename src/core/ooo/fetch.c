/* Fetch along the committed path: packets limited by width, by an aligned block of bytes and by
 * taken branches, cut by instruction cache and TLB misses. A mispredicted branch stops fetch until
 * it has executed; a flushing instruction, a system call or a signal until it has committed (what a
 * real core fetches, and squashes, meanwhile is not modelled). Instructions become µops here: a
 * compare fuses with the branch behind it, a repeated string instruction expands to line-sized
 * pieces as room comes. */
#include "core/ooo/ooo.h"

#include <string.h>

enum { REP_PIECE = 64 };

static const struct dynamic_insn *dynamic_at(const struct core *core, uint64_t number) {
    return &core->insns[number & core->insn_mask];
}

static uint64_t access_index(const struct core *core, const struct dynamic_insn *insn) {
    return core->access_head + (uint32_t)(insn->memory - (uint32_t)core->access_head);
}

/* Accesses of the µop that belong to memory operand `operand`. */
static void set_access(struct core *core, struct uop_state *uop, const struct dynamic_insn *insn,
                       uint8_t operand) {
    uint64_t first = access_index(core, insn), end = first + insn->memory_count;
    uop->access_count = 0;
    while (first < end && core->accesses[first & core->access_mask].operand != operand)
        first++;
    if (first == end)
        return;
    const struct memory_access *access = &core->accesses[first & core->access_mask];
    uop->access = first;
    uop->address = access->address;
    uop->size_bytes = access->size_bytes;
    uop->access_count = 1;
    while (++first < end) {
        const struct memory_access *more = &core->accesses[first & core->access_mask];
        if (more->operand != operand)
            break;
        if (!(uop->flags & U_STORE))
            uop->access_count++;
        else if (more->address == uop->address + uop->size_bytes)
            uop->size_bytes += more->size_bytes;
    }
}

/* The µop's piece of a repeated instruction's accesses; `chunk` counts pieces. */
static void set_piece(struct core *core, struct uop_state *uop, const struct dynamic_insn *insn,
                      uint8_t operand, uint64_t chunk, uint32_t piece) {
    uint64_t start = chunk * piece, first = access_index(core, insn);
    uop->access_count = 0;
    for (uint64_t i = first; i < first + insn->memory_count; i++) {
        const struct memory_access *access = &core->accesses[i & core->access_mask];
        if (access->operand != operand)
            continue;
        if (start >= access->size_bytes) {
            start -= access->size_bytes; /* it was split over several accesses */
            continue;
        }
        uint64_t left = access->size_bytes - start;
        uop->size_bytes = (uint32_t)(left < piece ? left : piece);
        uop->address = access->descending
                           ? access->address + access->size_bytes - start - uop->size_bytes
                           : access->address + start;
        uop->access = i;
        uop->access_count = 1;
        return;
    }
}

/* Pieces that a repeated instruction expands to, and their size. String stores and copies move a
 * line at a time; compares and scans an element at a time. */
static uint64_t rep_pieces(struct core *core, const struct dynamic_insn *insn, uint32_t *piece) {
    uint64_t first = access_index(core, insn), bytes[INSN_MAX_MEMORY] = {0}, most = 0;
    bool stores = false;
    for (uint64_t i = first; i < first + insn->memory_count; i++) {
        const struct memory_access *access = &core->accesses[i & core->access_mask];
        stores |= access->is_store;
        if (access->operand < INSN_MAX_MEMORY) {
            bytes[access->operand] += access->size_bytes;
            if (bytes[access->operand] > most)
                most = bytes[access->operand];
        }
    }
    *piece = REP_PIECE;
    if (most == 0 || insn->repeat == 0)
        return 1;
    if (!stores) {
        *piece = (uint32_t)(most / insn->repeat);
        if (*piece == 0)
            *piece = 1;
    }
    return (most + *piece - 1) / *piece;
}

static void start_life(struct core *core, struct uop_state *uop) {
    struct life *life = life_of(core, uop);
    *life = (struct life){.bringer = UNKNOWN, .store_producer = UNKNOWN};
    for (uint32_t i = 0; i <= UOP_MAX_SOURCES; i++)
        life->producer[i] = UNKNOWN;
    life->fetch_delay_cache = core->fetch_delay_cache;
    life->fetch_delay_tlb = core->fetch_delay_tlb;
}

static struct uop_state *emit(struct core *core, uint32_t static_uop, uint32_t uop_index,
                              uint64_t insn_number, uint32_t insn) {
    const struct uop *template = &core->code->uops[static_uop];
    const struct prepared *prepared = &core->prepared[static_uop];
    struct uop_state *uop = uop_at(core, core->next++);
    uop->complete = UNKNOWN;
    uop->consumers = NO_LINK;
    uop->pending = 0;
    uop->operation = template->operation;
    uop->queue_index = prepared->queue;
    uop->pool = prepared->pool;
    uop->flags = prepared->flags;
    uop->psv = (uint16_t)(core->fetch_psv | core->refetch_psv);
    core->fetch_psv = core->refetch_psv = 0;
    uop->access_count = 0;
    uop->size_bytes = 0;
    uop->address = 0;
    uop->insn = insn;
    uop->insn_number = insn_number;
    uop->fetched = core->cycle;
    uop->chunk = core->fetch_chunk;
    uop->uop_index = (uint8_t)uop_index;
    uop->source_count = template->source_count;
    uop->destination_count = template->destination_count;
    memcpy(uop->source, template->source, sizeof template->source);
    uop->source[LINK_DATA] = template->data;
    memcpy(uop->destination, template->destination, sizeof template->destination);
    if (core->lives)
        start_life(core, uop);
    return uop;
}

/* One µop of an instruction that is not repeated. */
static struct uop_state *emit_plain(struct core *core, const struct static_insn *insn,
                                    const struct dynamic_insn *dynamic, uint32_t uop_index,
                                    uint64_t insn_number) {
    uint32_t static_uop = insn->first_uop + uop_index;
    struct uop_state *uop = emit(core, static_uop, uop_index, insn_number, dynamic->insn);
    if (uop->flags & (U_LOAD | U_STORE))
        set_access(core, uop, dynamic, core->code->uops[static_uop].memory);
    return uop;
}

static uint32_t room(const struct core *core) {
    return core->fetch_capacity - (uint32_t)(core->next - core->tail);
}

/* All µops of an instruction, from fetch_uop and fetch_chunk on; false: the fetch buffer is full
 * and the rest follows. */
static bool emit_insn(struct core *core, const struct static_insn *insn,
                      const struct dynamic_insn *dynamic, uint64_t number) {
    if (!(dynamic->flags & DYN_REP)) {
        for (uint32_t i = core->fetch_uop; i < insn->uop_count; i++)
            emit_plain(core, insn, dynamic, i, number);
        core->fetch_uop = 0;
        return true;
    }
    uint32_t piece;
    uint64_t pieces = rep_pieces(core, dynamic, &piece);
    for (;;) {
        for (uint32_t i = core->fetch_uop; i < insn->uop_count; i++) {
            uint32_t static_uop = insn->first_uop + i;
            struct uop_state *uop = emit(core, static_uop, i, number, dynamic->insn);
            if (uop->flags & (U_LOAD | U_STORE))
                set_piece(core, uop, dynamic, core->code->uops[static_uop].memory,
                          core->fetch_chunk, piece);
            if (core->fetch_chunk + 1 < pieces && uop->flags & U_LAST)
                uop->flags = (uop->flags & ~(uint32_t)U_LAST) | U_REPEATED;
        }
        core->fetch_uop = 0;
        if (++core->fetch_chunk >= pieces)
            break;
        if (room(core) < INSN_MAX_UOPS)
            return false;
    }
    core->fetch_chunk = 0;
    return true;
}

/* A compare and the conditional branch behind it as one µop, owned by the branch. */
static void emit_fused(struct core *core, const struct static_insn *compare,
                       const struct dynamic_insn *dynamic, uint64_t number) {
    const struct dynamic_insn *branch_dynamic = dynamic_at(core, number + 1);
    const struct static_insn *branch = &core->code->insns[branch_dynamic->insn];
    uint32_t last = compare->uop_count - 1u;
    for (uint32_t i = core->fetch_uop; i < last; i++)
        emit_plain(core, compare, dynamic, i, number);
    core->fetch_uop = 0;
    struct uop_state *uop = emit(core, branch->first_uop, 0, number + 1, branch_dynamic->insn);
    const struct uop *operation = &core->code->uops[compare->first_uop + last];
    uop->source_count = operation->source_count;
    uop->destination_count = operation->destination_count;
    memcpy(uop->source, operation->source, sizeof operation->source);
    memcpy(uop->destination, operation->destination, sizeof operation->destination);
    uop->flags |= U_FUSED | (core->prepared[compare->first_uop + last].flags &
                             (U_INT_REGISTER | U_FP_REGISTER));
}

static bool fuses(const struct core *core, const struct static_insn *insn, uint64_t number) {
    if (!core->machine.fuse_compare_branch || !(insn->flags & INSN_SETS_FLAGS_FOR_FUSION) ||
        number + 1 >= core->insn_end)
        return false;
    const struct dynamic_insn *dynamic = dynamic_at(core, number);
    const struct static_insn *branch = &core->code->insns[dynamic_at(core, number + 1)->insn];
    /* A store in the compare's place (add [mem], 1) does not fuse. */
    const struct uop *last = &core->code->uops[insn->first_uop + insn->uop_count - 1u];
    return branch->flags & INSN_FUSES_WITH_FLAGS && branch->uop_count == 1 &&
           branch->address == insn->address + insn->length && !(dynamic->flags & ~DYN_TAKEN) &&
           last->operation == OP_INT_ALU;
}

/* Makes sure that the line of `address` is at the front end; false: fetch waits for it. */
static bool fetch_line(struct core *core, uint64_t address) {
    uint64_t line = address >> core->fetch_line_shift;
    if (line == core->fetch_line[0] || line == core->fetch_line[1])
        return true;
    struct memory_result result;
    memory_fetch(core->memory, core->cycle, address, core->next, &result);
    core->progress = true;
    if (result.retry) {
        core->fetch_resume = result.retry;
        return false;
    }
    core->fetch_line[1] = core->fetch_line[0];
    core->fetch_line[0] = line;
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

/* Predicts the branch at `number`. Returns false when the packet ends with it. */
static bool follow_branch(struct core *core, const struct static_insn *insn,
                          const struct dynamic_insn *dynamic, uint64_t number, uint32_t *taken) {
    struct uop_state *uop = uop_at(core, core->next - 1);
    bool goes = dynamic->flags & DYN_TAKEN;
    if (goes)
        uop->flags |= U_TAKEN;
    if (number + 1 >= core->insn_end || dynamic->flags & (DYN_SIGNAL | DYN_GAP))
        return false; /* its successor is not known */
    uint64_t next = core->code->insns[dynamic_at(core, number + 1)->insn].address;
    enum branch_outcome outcome =
        branch_predict(core->predictor, insn->address, insn->branch, insn->length, goes, next);
    if (core->ideal & IDEAL_BMISP)
        outcome = PREDICTED_RIGHT;
    if (outcome == PREDICTED_WRONG) {
        uop->flags |= U_MISPREDICTED;
        uop->psv |= PSV_FL_MB;
        core->fetch_resume = UNKNOWN;
        return false;
    }
    if (!goes)
        return true;
    if (outcome == PREDICTED_LATE) {
        core->fetch_resume = core->cycle + 1 + core->btb_miss_penalty;
        return false;
    }
    if (core->taken_bubble) {
        core->fetch_resume = core->cycle + 1 + core->taken_bubble;
        return false;
    }
    return ++*taken < core->machine.taken_branches;
}

static uint64_t block_of(const struct core *core, uint64_t address) {
    return core->machine.fetch_bytes ? address / core->machine.fetch_bytes : 0;
}

/* Fetches one packet; returns the number of instructions. */
static void fetch_packet(struct core *core) {
    const struct static_insn *insns = core->code->insns;
    uint32_t taken = 0;
    uint64_t block = block_of(core, insns[dynamic_at(core, core->fetch_insn)->insn].address);
    for (uint32_t width = core->machine.fetch_width; width > 0 && core->fetch_insn < core->insn_end;
         width--) {
        if (room(core) < 2 * INSN_MAX_UOPS)
            return;
        uint64_t number = core->fetch_insn;
        const struct dynamic_insn *dynamic = dynamic_at(core, number);
        const struct static_insn *insn = &insns[dynamic->insn];
        if (dynamic->flags & DYN_FAULT) { /* did not complete: it leaves no trace but its handler */
            core->fetch_insn++;
            core->progress = true;
            continue;
        }
        if (block_of(core, insn->address) != block)
            return;
        if (!fetch_line(core, insn->address) || !fetch_line(core, insn->address + insn->length - 1))
            return;
        if (fuses(core, insn, number)) {
            emit_fused(core, insn, dynamic, number);
            dynamic = dynamic_at(core, ++number);
            insn = &insns[dynamic->insn];
        } else if (!emit_insn(core, insn, dynamic, number)) {
            return;
        }
        core->fetch_insn = number + 1;
        struct uop_state *last = uop_at(core, core->next - 1);
        if (insn->branch != BRANCH_NONE && last->flags & U_BRANCH) {
            uint32_t before = taken;
            if (!follow_branch(core, insn, dynamic, number, &taken))
                return;
            if (taken != before && core->fetch_insn < core->insn_end)
                block = block_of(core, insns[dynamic_at(core, core->fetch_insn)->insn].address);
        }
        if (dynamic->flags & DYN_SIGNAL) {
            last->flags |= U_FLUSH;
            last->psv |= PSV_FL_EX;
        }
        if (last->flags & U_FLUSH) {
            last->psv |= PSV_FL_EX;
            core->fetch_resume = UNKNOWN;
            return;
        }
    }
}

void fetch_stage(struct core *core) {
    if (core->cycle < core->fetch_resume || core->fetch_insn >= core->insn_end ||
        (core->machine.fetch_target_queue && core->packets >= core->machine.fetch_target_queue))
        return;
    uint64_t first = core->next;
    fetch_packet(core);
    if (core->next == first)
        return;
    core->progress = true;
    core->fetch_delay_cache = core->fetch_delay_tlb = 0;
    uop_at(core, core->next - 1)->flags |= U_PACKET_END;
    core->packets++;
    if (core->tap_kinds & 1 << TAP_FETCH)
        for (uint64_t at = first; at < core->next; at += 255)
            tap_emit(core, TAP_FETCH, 0, at, core->next - at < 255 ? core->next - at : 255, 0);
}
