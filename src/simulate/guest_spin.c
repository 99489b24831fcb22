/* Rounds are looked for at the end of a piece: that is where an order ends it, or where a loop that
 * is longer than a piece has filled it. */
#include "simulate/guest_spin.h"

#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "isa/exchange.h"
#include "simulate/selection.h"

enum { LEAST_ROUNDS = 4, LET_THROUGH = 2, LONG_PIECES = 256 };

static const struct memory_access *accesses_of(const struct trace_batch *piece, uint32_t insn) {
    return piece->accesses + (piece->insns[insn].memory - (uint32_t)piece->first_access);
}

static bool alike(const struct dynamic_insn *insn, const struct memory_access *accesses,
                  const struct dynamic_insn *other, const struct memory_access *others) {
    return insn->insn == other->insn && insn->flags == other->flags &&
           insn->memory_count == other->memory_count &&
           memcmp(accesses, others, insn->memory_count * sizeof *accesses) == 0;
}

static bool alike_in(const struct trace_batch *piece, uint32_t a, uint32_t b) {
    return alike(&piece->insns[a], accesses_of(piece, a), &piece->insns[b], accesses_of(piece, b));
}

/* It reads, and waits for nothing but memory. */
static bool may_be_round(const struct code *code, const struct trace_batch *piece, uint32_t size) {
    uint32_t loads = 0, accesses = 0;
    for (uint32_t i = piece->insn_count - size; i < piece->insn_count; i++) {
        const struct dynamic_insn *insn = &piece->insns[i];
        const struct static_insn *what = &code->insns[insn->insn];
        const bool tries =
            what->flags & INSN_ATOMIC && insn_exchanges(code->isa, what->bytes, what->length);
        for (uint32_t k = 0; k < insn->memory_count; k++) {
            if (accesses_of(piece, i)[k].is_store && !tries)
                return false;
            loads += !accesses_of(piece, i)[k].is_store;
        }
        if (insn->flags & ~DYN_TAKEN)
            return false;
        accesses += insn->memory_count;
    }
    return loads && accesses <= SPIN_ACCESSES;
}

/* Instructions at the end of the piece that repeat those `size` before them. */
static uint32_t repeating(const struct trace_batch *piece, uint32_t size) {
    uint32_t count = 0;
    while (count + size < piece->insn_count &&
           alike_in(piece, piece->insn_count - 1 - count, piece->insn_count - 1 - count - size))
        count++;
    return count;
}

/* As many copies as make a piece, so that what is handed out comes in pieces of the usual size. */
static bool keep_round(struct guest_spin *spin, const struct trace_batch *piece, uint32_t size) {
    const uint32_t first = piece->insn_count - size;
    const uint32_t access = piece->insns[first].memory - (uint32_t)piece->first_access;
    if (!spin->insns)
        spin->insns = calloc(SPIN_PIECE, sizeof *spin->insns);
    if (!spin->accesses)
        spin->accesses = calloc(SPIN_PIECE + SPIN_ACCESSES, sizeof *spin->accesses);
    if (!spin->insns || !spin->accesses)
        return false;
    spin->size = size;
    spin->access_count = piece->access_count - access;
    spin->first_access = piece->first_access + access;
    spin->copies = SPIN_PIECE / size;
    if (spin->copies * spin->access_count > SPIN_PIECE)
        spin->copies = SPIN_PIECE / spin->access_count;
    for (uint32_t copy = 0; copy < spin->copies; copy++) {
        memcpy(spin->insns + copy * size, piece->insns + first, size * sizeof *spin->insns);
        memcpy(spin->accesses + copy * spin->access_count, piece->accesses + access,
               spin->access_count * sizeof *spin->accesses);
        for (uint32_t i = 0; i < size; i++)
            spin->insns[copy * size + i].memory += copy * spin->access_count;
    }
    spin->at = 0;
    spin->held = 0;
    return true;
}

void guest_spin_free(struct guest_spin *spin) {
    free(spin->insns);
    free(spin->accesses);
    *spin = (struct guest_spin){.insns = NULL};
}

/* Holds back what repeats at the end of the piece. */
static void look_for_rounds(struct guest_spin *spin, const struct code *code,
                            struct trace_batch *piece) {
    for (uint32_t size = 1; size <= SPIN_INSNS && LEAST_ROUNDS * size <= piece->insn_count;
         size++) {
        if (piece->insns[piece->insn_count - 1 - size].insn !=
            piece->insns[piece->insn_count - 1].insn)
            continue;
        const uint32_t rounds = repeating(piece, size) / size + 1;
        if (rounds < LEAST_ROUNDS)
            continue;
        if (!may_be_round(code, piece, size))
            return;
        if (!keep_round(spin, piece, size))
            return; /* no memory: it is simulated as it was */
        spin->held = rounds - LET_THROUGH;
        *piece = batch_slice(piece, 0, piece->insn_count - (rounds - LET_THROUGH) * size);
        return;
    }
}

/* How many instructions of the piece go on with the rounds. */
static uint32_t going_on(struct guest_spin *spin, const struct trace_batch *piece) {
    uint32_t count = 0;
    for (; count < piece->insn_count; count++) {
        const struct dynamic_insn *next = &spin->insns[spin->at];
        if (!alike(&piece->insns[count], accesses_of(piece, count), next,
                   spin->accesses + (next->memory - (uint32_t)spin->first_access)))
            break;
        spin->at++;
        if (spin->at == spin->size) {
            spin->at = 0;
            spin->held++;
        }
    }
    return count;
}

/* The loop has ended so: what was held is handed out, all of it or what came of the last round. */
static void end_rounds(struct guest_spin *spin, enum guest_step step) {
    if (step == GUEST_ORDER)
        spin->dropped = spin->held * spin->size;
    spin->left = spin->at + (step == GUEST_ORDER ? 0 : spin->held * spin->size);
    spin->begin = 0;
    spin->ended = step != GUEST_INSNS;
    spin->after = step;
    spin->held = spin->at = 0;
}

static void hand_out(struct guest_spin *spin, uint32_t most, struct trace_batch *piece,
                     const struct trace_batch *like) {
    const uint32_t all = spin->copies * spin->size;
    uint32_t count = all - spin->begin < most ? all - spin->begin : most;
    if (spin->left < count)
        count = (uint32_t)spin->left;
    struct trace_batch rounds = *like;
    rounds.insns = spin->insns;
    rounds.insn_count = all;
    rounds.accesses = spin->accesses;
    rounds.access_count = spin->copies * spin->access_count;
    rounds.first_access = spin->first_access;
    rounds.all_completed = true;
    rounds.thread_ended = false;
    *piece = batch_slice(&rounds, spin->begin, spin->begin + count);
    spin->left -= count;
    spin->begin += count;
    if (spin->begin == all)
        spin->begin = 0;
}

enum guest_step guest_spin_next(struct guest_spin *spin, struct guest_input *input, uint32_t most,
                                struct guest_next *next, struct error *error) {
    enum guest_step step = GUEST_INSNS;
    for (uint32_t pieces = 0; spin->size && !spin->left && !spin->ended;) {
        if (pieces++ == LONG_PIECES) {
            next->piece = batch_slice(&input->batch, 0, 0);
            return GUEST_INSNS;
        }
        step = guest_input_next(input, CORE_PUSH, &spin->next, error);
        if (step == GUEST_FAILED)
            return step;
        const struct trace_batch *piece = &spin->next.piece;
        const uint32_t count = step == GUEST_INSNS ? going_on(spin, piece) : 0;
        if (step == GUEST_INSNS && count == piece->insn_count)
            continue;
        if (step == GUEST_INSNS)
            guest_input_give_back(input, piece->insn_count - count);
        end_rounds(spin, step);
        if (!spin->left && !spin->ended)
            spin->size = 0;
    }
    if (spin->left) {
        hand_out(spin, most, &next->piece, &input->batch);
        return GUEST_INSNS;
    }
    spin->size = 0;
    if (spin->ended) {
        spin->ended = false;
        *next = spin->next;
        return spin->after;
    }
    step = guest_input_next(input, most, next, error);
    if (step == GUEST_INSNS)
        look_for_rounds(spin, trace_code(input->trace), &next->piece);
    return step;
}

void guest_spin_give_back(struct guest_spin *spin, struct guest_input *input, uint32_t count) {
    if (!count)
        return;
    if (!spin->size) {
        guest_input_give_back(input, count);
    } else if (spin->left || spin->ended || !spin->held) {
        const uint32_t all = spin->copies * spin->size;
        spin->begin = spin->begin >= count ? spin->begin - count : spin->begin + all - count;
        spin->left += count;
    } else {
        guest_input_give_back(input, (uint32_t)(spin->held * spin->size) + count);
        spin->size = 0;
    }
}

uint64_t guest_spin_backlog(const struct guest_spin *spin) {
    return spin->size ? spin->left + spin->held * spin->size + spin->at : 0;
}
