/* From dynamic instructions to the stream of µops that fetch will take, in program order and free
 * of time: a compare fuses with the branch behind it, a repeated string instruction expands to
 * line-sized pieces as room comes, branches meet the predictor (it depends on program order alone),
 * and what fetch must know of places (a new cache line, a new aligned block) is noted as flags.
 *
 * The stream keeps a µop until it commits, so a flush only has to fetch it again. The last
 * instruction of the input waits for its successor. */
#include "core/ooo/ooo.h"

#include <string.h>

enum { REP_PIECE = 64 };

static inline const struct memory_access *access_at(const struct input *input, uint32_t i) {
    return &input->accesses[input->insn.memory - input->first_access + i];
}

/* Fills in the accesses of memory operand `operand`; adjoining ones are one access. */
static void set_accesses(struct core *core, struct stream_uop *uop, const struct input *input,
                         uint8_t operand) {
    uint32_t count = input->insn.memory_count, i = 0;
    while (i < count && access_at(input, i)->operand != operand)
        i++;
    if (i == count)
        return;
    const struct memory_access *access = access_at(input, i);
    uint64_t size = access->size_bytes;
    uop->address = access->address;
    uop->access_count = 1;
    uop->access = (uint32_t)core->gather_end;
    while (++i < count && (access = access_at(input, i))->operand == operand) {
        if (uop->access_count == 1 && access->address == uop->address + size) {
            size += access->size_bytes;
        } else if (uop->is.flags & U_LOAD && uop->access_count < GATHER_MAX) {
            if (uop->access_count == 1)
                core->gathers[core->gather_end++ & core->gather_mask] =
                    (struct memory_access){.address = uop->address, .size_bytes = (uint32_t)size};
            core->gathers[core->gather_end++ & core->gather_mask] = *access;
            uop->access_count++;
        }
    }
    uop->size_bytes = size < UINT16_MAX ? (uint16_t)size : UINT16_MAX;
}

/* The µop's piece of a repeated instruction's accesses; `piece` counts pieces of `bytes`. */
static void set_piece(struct stream_uop *uop, const struct input *input, uint8_t operand,
                      uint64_t piece, uint32_t bytes) {
    uint64_t start = piece * bytes;
    for (uint32_t i = 0; i < input->insn.memory_count; i++) {
        const struct memory_access *access = access_at(input, i);
        if (access->operand != operand)
            continue;
        if (start >= access->size_bytes) {
            start -= access->size_bytes; /* it was split over several accesses */
            continue;
        }
        uint64_t left = access->size_bytes - start;
        uop->size_bytes = (uint16_t)(left < bytes ? left : bytes);
        uop->address = access->descending
                           ? access->address + access->size_bytes - start - uop->size_bytes
                           : access->address + start;
        uop->access_count = 1;
        return;
    }
}

/* Pieces that a repeated instruction expands to, and their size. String stores and copies move a
 * line at a time; compares and scans an element at a time. */
static uint64_t rep_pieces(const struct input *input, uint32_t *bytes) {
    uint64_t total[INSN_MAX_MEMORY] = {0}, most = 0;
    bool stores = false;
    for (uint32_t i = 0; i < input->insn.memory_count; i++) {
        const struct memory_access *access = access_at(input, i);
        stores |= access->is_store;
        if (access->operand < INSN_MAX_MEMORY) {
            total[access->operand] += access->size_bytes;
            if (total[access->operand] > most)
                most = total[access->operand];
        }
    }
    *bytes = REP_PIECE;
    if (most == 0 || input->insn.repeat == 0)
        return 1;
    if (!stores) {
        uint64_t element = most / input->insn.repeat;
        *bytes = element == 0 ? 1 : element < REP_PIECE ? (uint32_t)element : REP_PIECE;
    }
    return (most + *bytes - 1) / *bytes;
}

static inline struct stream_uop *emit(struct core *core, uint32_t static_uop, uint32_t insn) {
    struct stream_uop *uop = &core->stream[core->produced++ & core->stream_mask];
    uop->is = prepared_at(core, static_uop)->is;
    uop->insn = insn;
    uop->static_uop = static_uop;
    uop->access_count = 0;
    return uop;
}

static inline struct stream_uop *emit_plain(struct core *core, uint32_t static_uop,
                                            const struct input *input) {
    struct stream_uop *uop = emit(core, static_uop, input->insn.insn);
    if (uop->is.flags & (U_LOAD | U_STORE))
        set_accesses(core, uop, input, core->code->uops[static_uop].memory);
    return uop;
}

/* One piece of a repeated instruction. */
static struct stream_uop *emit_piece(struct core *core, const struct static_insn *insn,
                                     const struct input *input, uint64_t piece, uint64_t pieces,
                                     uint32_t bytes) {
    struct stream_uop *uop = NULL;
    for (uint32_t i = 0; i < insn->uop_count; i++) {
        uint32_t static_uop = insn->first_uop + i;
        uop = emit(core, static_uop, input->insn.insn);
        if (uop->is.flags & (U_LOAD | U_STORE))
            set_piece(uop, input, core->code->uops[static_uop].memory, piece, bytes);
        if (piece > 0)
            uop->is.flags &= ~(uint32_t)U_FIRST;
        if (piece + 1 < pieces && uop->is.flags & U_LAST)
            uop->is.flags = (uop->is.flags & ~(uint32_t)U_LAST) | U_REPEATED;
    }
    return uop;
}

/* What stands between this instruction and the one before it, for fetch. */
static inline uint32_t place_flags(struct core *core, const struct static_insn *insn) {
    uint64_t end = insn->address + insn->length - 1;
    uint64_t line = insn->address >> core->fetch_line_shift, last = end >> core->fetch_line_shift;
    uint64_t block = insn->address >> core->fetch_block_shift;
    uint32_t flags = 0;
    if (line != core->last_line)
        flags |= U_NEW_LINE;
    if (last != line)
        flags |= U_CROSSES_LINE;
    if (block != core->last_block)
        flags |= U_NEW_BLOCK;
    core->last_line = last;
    core->last_block = block;
    return flags;
}

/* Meets the predictor; flags for the µop that resolves the branch. */
static uint32_t branch_flags(struct core *core, const struct static_insn *insn,
                             const struct dynamic_insn *dynamic, const struct dynamic_insn *next) {
    bool taken = dynamic->flags & DYN_TAKEN;
    uint32_t flags = taken ? U_TAKEN : 0;
    if (!next || dynamic->flags & (DYN_SIGNAL | DYN_GAP))
        return flags; /* where it really went is not known */
    enum branch_outcome outcome =
        branch_predict(core->predictor, insn->address, insn->branch, insn->length, taken,
                       core->code->insns[next->insn].address);
    if (core->ideal & IDEAL_BMISP)
        return flags;
    if (outcome == PREDICTED_WRONG)
        flags |= U_MISPREDICTED;
    if (outcome == PREDICTED_LATE)
        flags |= U_LATE;
    return flags;
}

/* The compare of `input` fuses with `next`, the branch behind it. A store in the compare's place
 * (add [mem], 1) does not. */
static bool fuses(const struct core *core, const struct static_insn *insn,
                  const struct input *input, const struct dynamic_insn *next) {
    const struct static_insn *branch = &core->code->insns[next->insn];
    const struct uop *last = &core->code->uops[insn->first_uop + insn->uop_count - 1u];
    return branch->flags & INSN_FUSES_WITH_FLAGS && branch->uop_count == 1 &&
           branch->address == insn->address + insn->length && !input->insn.flags &&
           last->operation == OP_INT_ALU;
}

/* All µops but the last of a compare; what it has beyond them goes into the branch. */
static void start_fused(struct core *core, const struct static_insn *compare,
                        const struct input *input) {
    uint64_t first = core->produced;
    uint32_t last = compare->first_uop + compare->uop_count - 1u;
    uint32_t places = place_flags(core, compare);
    for (uint32_t static_uop = compare->first_uop; static_uop < last; static_uop++)
        emit_plain(core, static_uop, input);
    core->fused_operands = last;
    core->fused_places = places;
    if (core->produced != first) { /* its load goes first */
        core->stream[first & core->stream_mask].is.flags |= places;
        core->fused_places = 0;
    }
}

static void finish_fused(struct core *core, const struct static_insn *branch,
                         struct stream_uop *uop) {
    uint32_t operands = core->fused_operands, places = place_flags(core, branch);
    const uint32_t *flags = &prepared_at(core, operands)->is.flags;
    uop->static_uop = operands;
    uop->address = branch->address + branch->length - 1;
    uop->is.flags |= U_FUSED | (*flags & (U_INT_REGISTER | U_FP_REGISTER));
    if (*flags & U_FIRST) /* the pair begins here */
        uop->is.flags |= core->fused_places | (places & ~(uint32_t)U_NEW_BLOCK);
    else
        uop->is.flags &= ~(uint32_t)U_FIRST;
    core->fused_operands = UINT32_MAX;
}

/* Puts the instruction into the stream, or its next pieces as far as there is room. False: more of
 * it is left. `next` is its successor, NULL when there is none. */
static bool predecode(struct core *core, const struct input *input,
                      const struct dynamic_insn *next) {
    const struct dynamic_insn *dynamic = &input->insn;
    const struct static_insn *insn = &core->code->insns[dynamic->insn];
    if (dynamic->flags & DYN_FAULT) /* did not complete: it leaves no trace but its handler */
        return true;
    uint64_t first = core->produced;
    struct stream_uop *last = NULL;
    if (core->fused_operands != UINT32_MAX) {
        last = emit(core, insn->first_uop, dynamic->insn);
        finish_fused(core, insn, last);
        core->produced_insns += (last->is.flags & U_FIRST) != 0;
    } else if (core->machine.fuse_compare_branch && next &&
               insn->flags & INSN_SETS_FLAGS_FOR_FUSION && fuses(core, insn, input, next)) {
        start_fused(core, insn, input);
        core->produced_insns += core->produced != first;
        return true;
    } else if (!(dynamic->flags & DYN_REP)) {
        uint32_t end = insn->first_uop + insn->uop_count;
        for (uint32_t static_uop = insn->first_uop; static_uop < end; static_uop++)
            last = emit_plain(core, static_uop, input);
        core->stream[first & core->stream_mask].is.flags |= place_flags(core, insn);
        core->produced_insns++;
    } else {
        uint32_t bytes;
        uint64_t pieces = rep_pieces(input, &bytes);
        if (core->rep_piece == 0)
            core->produced_insns++;
        do {
            if (core->rep_piece && chunk_is_full(core))
                return false;
            last = emit_piece(core, insn, input, core->rep_piece, pieces, bytes);
            if (core->rep_piece == 0)
                core->stream[first & core->stream_mask].is.flags |= place_flags(core, insn);
        } while (++core->rep_piece < pieces);
        core->rep_piece = 0;
    }
    if (insn->branch != BRANCH_NONE && last->is.flags & U_BRANCH)
        last->is.flags |= branch_flags(core, insn, dynamic, next);
    if (dynamic->flags & DYN_SIGNAL)
        last->is.flags |= U_FLUSH;
    return true;
}

bool predecode_step(struct core *core, const struct input *input, const struct dynamic_insn *next) {
    return !chunk_is_full(core) && predecode(core, input, next);
}
