/* From dynamic instructions to the stream of µops that fetch will take, in program order and free
 * of time: a compare fuses with the branch behind it, a repeated string instruction expands to
 * line-sized pieces as room comes, branches meet the predictor (it depends on program order alone),
 * and what fetch must know of places (a new cache line, a new aligned block) is noted as flags.
 *
 * Nearly all instructions belong to basic blocks that were executed before: their µops are copied
 * (blocks.h). The others go through predecode_step(), which knows all cases.
 *
 * The stream keeps a µop until it commits, so a flush only has to fetch it again. The last
 * instruction of the input waits for its successor. */
#include "core/ooo/blocks.h"

#include "branch/op_cache.h"
#include "util/array.h"

#include <assert.h>

enum { REP_PIECE = 64, MOST_OWED = 64 };

/* The first access of a memory operand by a load or a store; `memory_count`: there is none. */
static uint32_t first_access(const struct input *input, uint8_t operand, bool store) {
    return (uint32_t)index_where(i, input->insn->memory_count,
                                 input->accesses[i].operand == operand &&
                                     input->accesses[i].is_store == store);
}

/* Fills in the accesses of memory operand `operand`; adjoining ones are one access. An operand that
 * is read and written has some of the load and some of the store; where the trace has those of one
 * alone, as of a compare and exchange that did not store, they are the other's too. */
static void set_accesses(struct ooo *core, struct stream_uop *uop, const struct input *input,
                         uint8_t operand) {
    uint32_t count = input->insn->memory_count;
    bool store = uop->flags & U_STORE;
    uint32_t i = first_access(input, operand, store);
    if (i == count)
        i = first_access(input, operand, store = !store);
    if (i == count)
        return;
    const struct memory_access *access = &input->accesses[i];
    uint64_t size = access->size_bytes;
    uop->address = access->address;
    uop->access_count = 1;
    uop->access = (uint32_t)core->gather_end;
    while (++i < count && (access = &input->accesses[i])->operand == operand) {
        if (access->is_store != store)
            continue;
        if (uop->access_count == 1 && access->address == uop->address + size) {
            size += access->size_bytes;
        } else if (uop->flags & U_LOAD && uop->access_count < GATHER_MAX) {
            if (uop->access_count == 1)
                core->gathers[core->gather_end++ & core->gather_mask] =
                    (struct memory_access){.address = uop->address, .size_bytes = (uint32_t)size};
            core->gathers[core->gather_end++ & core->gather_mask] = *access;
            uop->access_count++;
        }
    }
    uop->size_bytes = size < UINT16_MAX ? (uint16_t)size : UINT16_MAX;
    if (uop->flags & U_LOAD && uop->access_count == 1 && is_split_load(core, uop->address, size))
        uop->flags |= U_LONG;
}

/* The µop's piece of a repeated instruction's accesses; `piece` counts pieces of `bytes`. */
static void set_piece(struct stream_uop *uop, const struct input *input, uint8_t operand,
                      uint64_t piece, uint32_t bytes) {
    uint64_t start = piece * bytes;
    for (uint32_t i = 0; i < input->insn->memory_count; i++) {
        const struct memory_access *access = &input->accesses[i];
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
    for (uint32_t i = 0; i < input->insn->memory_count; i++) {
        const struct memory_access *access = &input->accesses[i];
        stores |= access->is_store;
        if (access->operand < INSN_MAX_MEMORY) {
            total[access->operand] += access->size_bytes;
            if (total[access->operand] > most)
                most = total[access->operand];
        }
    }
    *bytes = REP_PIECE;
    if (most == 0 || input->insn->repeat == 0)
        return 1;
    if (!stores) {
        uint64_t element = most / input->insn->repeat;
        *bytes = element == 0 ? 1 : element < REP_PIECE ? (uint32_t)element : REP_PIECE;
    }
    return (most + *bytes - 1) / *bytes;
}

/* The µop at a place of the stream, without accesses. `places`: more flags. */
static inline struct stream_uop *put(struct ooo *core, uint64_t at,
                                     const struct prepared_uop *prepared, uint32_t insn,
                                     uint32_t places) {
    struct stream_uop *uop = &core->stream[at & core->stream_mask];
    uop->flags = prepared->flags | places;
    uop->insn = insn;
    uop->operands = prepared;
    uop->access_count = uop->decoded = 0;
    uop->unit = prepared->unit;
    return uop;
}

static inline struct stream_uop *emit(struct ooo *core, const struct prepared_uop *prepared,
                                      uint32_t insn) {
    return put(core, core->produced++, prepared, insn, 0);
}

static inline struct stream_uop *emit_plain(struct ooo *core, const struct prepared_uop *prepared,
                                            const struct input *input) {
    struct stream_uop *uop = emit(core, prepared, input->insn->insn);
    if (uop->flags & (U_LOAD | U_STORE))
        set_accesses(core, uop, input, prepared->memory);
    return uop;
}

/* One piece of a repeated instruction. */
static struct stream_uop *emit_piece(struct ooo *core, const struct known_insn *insn,
                                     const struct input *input, uint64_t piece, uint64_t pieces,
                                     uint32_t bytes) {
    struct stream_uop *uop = NULL;
    for (uint32_t i = 0; i < insn->uop_count; i++) {
        uop = emit(core, &insn->uops[i], input->insn->insn);
        if (uop->flags & (U_LOAD | U_STORE))
            set_piece(uop, input, insn->uops[i].memory, piece, bytes);
        if (piece > 0)
            uop->flags &= ~(uint32_t)(U_FIRST | U_PLACE);
        if (piece + 1 < pieces && uop->flags & U_LAST)
            uop->flags = (uop->flags & ~(uint32_t)(U_LAST | U_MICROCODED)) | U_REPEATED;
    }
    return uop;
}

/* What stands between an instruction, by its first byte, and the one before it, for fetch. (That an
 * instruction crosses lines its µop says of itself.) */
static inline uint32_t place_between(const struct ooo *core, uint64_t last_begin, uint64_t last_end,
                                     uint64_t begin) {
    bool new_line = (begin ^ last_end) & core->fetch_line_mask;
    bool new_block = (begin ^ last_begin) & core->fetch_block_mask;
    return (uint32_t)new_line * U_NEW_LINE | (uint32_t)new_block * U_NEW_BLOCK;
}

static inline uint32_t place_flags(struct ooo *core, const struct known_insn *insn) {
    const uint64_t begin = insn->uops->insn_address;
    const uint32_t places = place_between(core, core->last_begin, core->last_end, begin);
    core->last_begin = begin;
    core->last_end = begin + insn->uops->insn_length - 1;
    return places;
}

/* A block with a bubble of its own is predicted with no other (enum block_end). */
static inline uint16_t longer(uint16_t bubble, uint16_t cycles) {
    return (uint16_t)((bubble & BUBBLE_CYCLES) + cycles);
}

/* What prediction makes of a branch that goes to `target`, if it is taken (enum block_end). */
static inline uint16_t branch_bubble(const struct ooo *core, const struct known_insn *insn,
                                     const struct known_insn *target) {
    const bool far = (insn->uops->insn_address ^ target->uops->insn_address) >> core->far_bit ||
                     ((insn->traits ^ target->traits) & KNOWN_FILE) == KNOWN_FILE;
    const uint16_t bubble = core->bubbles[insn->branch];
    return far && insn->branch != BRANCH_RETURN && core->far_bubble
               ? longer(bubble, core->far_bubble)
               : bubble;
}

/* Besides, of a taken branch that the nearest target buffer does not have. */
static uint16_t with_near_bubble(const struct ooo *core, const struct known_insn *insn,
                                 const struct known_insn *target, uint16_t bubble) {
    return branch_is_near(core->predictor, insn->uops->insn_address, (enum branch_kind)insn->branch,
                          target->uops->insn_address)
               ? bubble
               : longer(bubble, core->near_bubble);
}

/* Of a branch that is not taken it is owed: the next block that a taken one begins has it. */
static void add_slow_bubble(struct ooo *core, const struct known_insn *insn, bool taken,
                            struct stream_uop *uop) {
    const bool conditional = insn->branch == BRANCH_CONDITIONAL;
    const uint16_t bubble = conditional ? core->override_bubble : core->indirect_bubble;
    if (bubble && taken)
        uop->bubble = longer(uop->bubble, bubble);
    else if (core->owed_bubble < MOST_OWED)
        core->owed_bubble = (uint16_t)(core->owed_bubble + bubble);
}

static uint16_t take_owed(struct ooo *core) {
    const uint16_t owed = core->owed_bubble;
    core->owed_bubble = 0;
    return owed;
}

/* Meets the predictor: what the µop that resolves the branch does to fetch. */
static inline void resolve_branch(struct ooo *core, const struct known_insn *insn,
                                  const struct dynamic_insn *dynamic,
                                  const struct dynamic_insn *next, struct stream_uop *uop) {
    bool taken = dynamic->flags & DYN_TAKEN;
    uop->flags |= taken ? U_TAKEN : 0;
    uop->bubble = core->bubbles[insn->branch];
    if (dynamic->flags & (DYN_SIGNAL | DYN_GAP))
        return; /* where it really went is not known */
    if (!next) {
        branch_await(core->predictor, insn->uops->insn_address, (enum branch_kind)insn->branch,
                     insn->uops->insn_length, taken);
        return;
    }
    const struct known_insn *target = &core->known[next->insn];
    uop->bubble = branch_bubble(core, insn, target);
    if (core->near_bubble && taken)
        uop->bubble = with_near_bubble(core, insn, target, uop->bubble);
    enum branch_outcome outcome =
        branch_predict(core->predictor, insn->uops->insn_address, (enum branch_kind)insn->branch,
                       insn->uops->insn_length, taken, target->uops->insn_address);
    if (outcome == PREDICTED_SLOWLY)
        add_slow_bubble(core, insn, taken, uop);
    if (outcome > PREDICTED_SLOWLY)
        core->owed_bubble = 0; /* fetch waits for something else */
    if (core->owed_bubble && taken)
        uop->bubble = longer(uop->bubble, take_owed(core));
    if (core->ideal & IDEAL_BMISP)
        return;
    if (outcome == PREDICTED_WRONG)
        uop->flags |= U_MISPREDICTED;
    if (outcome == PREDICTED_LATE)
        uop->flags |= U_LATE;
}

/* The instruction, a compare, fuses with `next`, the branch behind it. */
static inline bool fuses(const struct ooo *core, const struct known_insn *insn,
                         const struct dynamic_insn *dynamic, const struct dynamic_insn *next) {
    return insn->traits & KNOWN_COMPARE && next && !dynamic->flags && !(next->flags & DYN_FAULT) &&
           core->known[next->insn].traits & KNOWN_FUSING_BRANCH &&
           core->known[next->insn].uops->insn_address ==
               insn->uops->insn_address + insn->uops->insn_length;
}

/* All µops but the last of a compare; what it has beyond them goes into the branch. */
static void start_fused(struct ooo *core, const struct known_insn *compare,
                        const struct input *input) {
    uint64_t first = core->produced;
    const struct prepared_uop *last = compare->uops + compare->uop_count - 1;
    uint32_t places = place_flags(core, compare);
    for (const struct prepared_uop *uop = compare->uops; uop < last; uop++) {
        struct stream_uop *load = emit_plain(core, uop, input);
        const uint16_t alone = core->units[load->unit].alone;
        load->unit = alone ? alone : load->unit;
    }
    core->fused_operands = last;
    core->fused_places = places;
    if (core->produced != first) { /* its load goes first */
        core->stream[first & core->stream_mask].flags |= places;
        core->fused_places = 0;
    }
}

static void finish_fused(struct ooo *core, const struct known_insn *branch,
                         struct stream_uop *uop) {
    const uint32_t places = place_flags(core, branch), flags = core->fused_operands->flags;
    uop->operands = core->fused_operands;
    uop->address = core->last_end;
    uop->flags &= ~(uint32_t)U_MANY;
    uop->flags |= U_FUSED | (flags & (U_INT_REGISTER | U_FP_REGISTER | U_FLAG_REGISTER |
                                      U_CROSSES_LINE | U_MANY | U_SHARES));
    if (flags & U_MOVE) /* an addition, which executes here */
        uop->flags |= U_INT_REGISTER;
    if (flags & U_FIRST) /* the pair begins here */
        uop->flags |= core->fused_places | (places & ~(uint32_t)U_NEW_BLOCK);
    else
        uop->flags &= ~(uint32_t)(U_FIRST | U_PLACE);
    core->fused_operands = NULL;
}

/* All µops of an instruction; returns the last. The first operation on the stack pointer behind
 * push, pop, call or return has one more before its own, which brings it up to date. */
static struct stream_uop *emit_insn(struct ooo *core, const struct known_insn *insn,
                                    const struct input *input) {
    const uint64_t first = core->produced;
    const bool behind = insn->traits & KNOWN_READS_STACK && core->stack_moved;
    struct stream_uop *last = NULL;
    if (behind)
        emit(core, insn->uops - 1, input->insn->insn);
    for (uint32_t i = 0; i < insn->uop_count; i++)
        last = emit_plain(core, &insn->uops[i], input);
    if (behind)
        core->stream[(first + 1) & core->stream_mask].flags &= ~(uint32_t)(U_FIRST | U_PLACE);
    core->stream[first & core->stream_mask].flags |= place_flags(core, insn);
    if (insn->traits & KNOWN_MOVES_STACK)
        core->stack_moved = true;
    else if (behind || insn->traits & KNOWN_WRITES_STACK)
        core->stack_moved = false;
    return last;
}

/* As many pieces of a repeated instruction as there is room for, the first in any case; the last of
 * them all is the result, NULL while some are left. */
static struct stream_uop *emit_repeated(struct ooo *core, const struct known_insn *insn,
                                        const struct input *input) {
    uint64_t first = core->produced;
    struct stream_uop *last;
    uint32_t bytes;
    uint64_t pieces = rep_pieces(input, &bytes);
    do {
        if (core->rep_piece && chunk_is_full(core))
            return NULL;
        last = emit_piece(core, insn, input, core->rep_piece, pieces, bytes);
        if (core->rep_piece == 0)
            core->stream[first & core->stream_mask].flags |= place_flags(core, insn);
    } while (++core->rep_piece < pieces);
    core->rep_piece = 0;
    return last;
}

/* The instruction, a load, passes with `next`, the operation behind it. */
static inline bool passes_with(const struct ooo *core, const struct known_insn *load,
                               const struct dynamic_insn *next) {
    return next && !(next->flags & DYN_FAULT) &&
           core->known[next->insn].uops->overwrites == load->uops->loads &&
           core->known[next->insn].uops->insn_address ==
               load->uops->insn_address + load->uops->insn_length;
}

/* Any instruction, or its next pieces as far as there is room; *last is its last µop so far. A
 * compare that fuses leaves its own to the branch: NULL. False: more of it is left. */
static bool emit_any(struct ooo *core, const struct input *input, const struct dynamic_insn *next,
                     struct stream_uop **last) {
    const struct dynamic_insn *dynamic = input->insn;
    const struct known_insn *insn = &core->known[dynamic->insn];
    *last = NULL;
    if (core->fused_operands) {
        *last = emit(core, insn->uops, dynamic->insn);
        finish_fused(core, insn, *last);
    } else if (fuses(core, insn, dynamic, next)) {
        start_fused(core, insn, input);
    } else if (dynamic->flags & DYN_REP) {
        *last = emit_repeated(core, insn, input);
        return *last != NULL;
    } else {
        *last = emit_insn(core, insn, input);
        if (insn->uops->loads && passes_with(core, insn, next))
            (*last)->flags &= ~(uint32_t)U_RENAMES;
    }
    return true;
}

/* Which of the µops from `first` on are decoded. */
static void note_decoded(const struct ooo *core, uint64_t first) {
    struct op_cache *cache = branch_op_cache(core->predictor);
    for (uint64_t at = first; at < core->produced; at++) {
        struct stream_uop *uop = &core->stream[at & core->stream_mask];
        const struct prepared_uop *operands = uop->operands;
        const uint64_t begin = operands->insn_address;
        if (uop->flags & U_FIRST)
            op_cache_take(cache, begin, begin + operands->insn_length - 1);
        if (uop->flags & U_FUSED)
            op_cache_fuse(cache, uop->address);
        uop->decoded = cache->missed;
    }
}

bool predecode_step(struct ooo *core, const struct input *input, const struct dynamic_insn *next) {
    const struct dynamic_insn *dynamic = input->insn;
    const struct known_insn *insn = &core->known[dynamic->insn];
    const uint64_t first = core->produced;
    struct stream_uop *last;
    if (chunk_is_full(core))
        return false;
    if (dynamic->flags & DYN_FAULT) /* did not complete: it leaves no trace but its handler */
        return true;
    const bool whole = emit_any(core, input, next, &last);
    if (core->has_op_cache)
        note_decoded(core, first);
    if (!whole)
        return false;
    if (!last)
        return true;
    if (insn->branch != BRANCH_NONE)
        resolve_branch(core, insn, dynamic, next, last);
    if (dynamic->flags & DYN_SIGNAL)
        last->flags |= U_FLUSH;
    return true;
}

/* ---- many ---- */

static struct input input_of(const struct core_input *batch, const struct dynamic_insn *dynamic) {
    const uint32_t access = dynamic->memory_count ? dynamic->memory - batch->first_access : 0;
    return (struct input){dynamic, batch->accesses + access};
}

/* A block is predecoded as if nothing came before it, and kept. */
static void emit_and_keep(struct ooo *core, const struct core_input *batch,
                          const struct dynamic_insn *insns, uint32_t count) {
    const uint64_t first = core->produced;
    const bool stack_moved = core->stack_moved;
    core->last_begin = core->last_end = core->known[insns->insn].uops->insn_address;
    for (uint32_t i = 0; i < count; i++) {
        const struct input input = input_of(batch, &insns[i]);
        struct stream_uop *last;
        emit_any(core, &input, &insns[i + 1], &last);
    }
    keep_block(core, batch, insns, count, first, stack_moved);
}

/* The block that begins here, all but where its branch goes: how many instructions it has. 0: there
 * is none, or this time it is another. */
static inline uint32_t emit_block(struct ooo *core, const struct core_input *batch,
                                  const struct dynamic_insn *insns, uint32_t count) {
    const struct known_insn *known = &core->known[insns->insn];
    const uint64_t first = core->produced;
    const uint32_t places =
        place_between(core, core->last_begin, core->last_end, known->uops->insn_address);
    uint32_t taken = 0;
    if (core->fused_operands)
        return 0;
    if (known->block) {
        taken = copy_block(core, known->block, batch, insns, count);
    } else if (core->at_block) {
        taken = block_extent(core, batch, insns, count);
        if (taken)
            emit_and_keep(core, batch, insns, taken);
    }
    if (taken)
        core->stream[first & core->stream_mask].flags |= places;
    if (taken && core->has_op_cache)
        note_decoded(core, first);
    return taken;
}

/* The next instruction by itself, or pieces of it. False: some are left. */
static bool emit_step(struct ooo *core, const struct core_input *batch,
                      const struct dynamic_insn *insn) {
    const struct input input = input_of(batch, insn);
    if (!predecode_step(core, &input, insn + 1))
        return false;
    core->at_block =
        core->known[insn->insn].branch != BRANCH_NONE || !is_plain_insn(insn, input.accesses);
    return true;
}

bool predecode_run(struct ooo *core, const struct core_input *batch, uint32_t *at, uint32_t end,
                   struct error *error) {
    uint32_t next = *at;
    bool good = true;
    while (next < end && !chunk_is_full(core)) {
        const struct dynamic_insn *insns = batch->insns + next;
        const uint32_t taken = emit_block(core, batch, insns, end - next);
        if (!taken)
            good =
                core_input_is_there(core->code, insns, batch->access_count, batch->first_access) ||
                core_input_error(error);
        good = good && meet_insn(core, insns[taken ? taken : 1].insn, error);
        if (!good)
            break;
        if (taken) {
            const struct dynamic_insn *last = insns + taken - 1;
            const struct known_insn *known = &core->known[last->insn];
            if (known->branch != BRANCH_NONE)
                resolve_branch(core, known, last, last + 1,
                               &core->stream[(core->produced - 1) & core->stream_mask]);
            core->at_block = true;
            next += taken;
        } else if (emit_step(core, batch, insns)) {
            next++;
        } else {
            break;
        }
    }
    *at = next;
    return good;
}
