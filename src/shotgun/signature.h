/* Signature bits (interaction-cost paper Table VI): two per instruction, a hash of what happened to
 * it, which tells microarchitectural contexts apart, and room for a third.
 *
 *     bit 1   set on a taken branch, a load or a store; reset on an L2 data miss
 *     bit 2   set on an L1 or L2 instruction miss, L1 or L2 data miss, TLB miss, or misprediction
 *     bit 3   one of the bits of the program counter, to tell targets of indirect branches apart
 *             (proposed in §6.3); 0 unless one is chosen (struct shotgun_options)
 *
 * An instruction is what the program counter steps over. One that cracks into several µops has the
 * events of all of them; a compare that is fused with the branch behind it has those of its own
 * load, if any, and the branch its direction.
 *
 * A detailed sample carries the bits of the ten instructions before it, its own, and of the ten
 * behind it: 63 bits, those of the oldest lowest. */
#pragma once

#include <stdint.h>

#include "graph/graph.h"
#include "memory/memory.h"

enum signature_bits {
    SIGNATURE_1 = 1 << 0,
    SIGNATURE_2 = 1 << 1,
    SIGNATURE_PC = 1 << 2,
    SIGNATURE_BITS = 3,
    SIGNATURE_ALL = (1 << SIGNATURE_BITS) - 1,
    SIGNATURE_EVENTS = SIGNATURE_1 | SIGNATURE_2
};

enum {
    CONTEXT_INSNS = 10, /* on either side of a detailed sample */
    CONTEXT_SPAN = 2 * CONTEXT_INSNS + 1,
    CONTEXT_BITS = CONTEXT_SPAN * SIGNATURE_BITS
};
#define CONTEXT_ALL (((uint64_t)1 << CONTEXT_BITS) - 1)

/* Events of the µops of an instruction so far; 0 at first. */
enum signature_events {
    EVENT_BIT_1 = 1 << 0,
    EVENT_BIT_2 = 1 << 1,
    EVENT_RESET_1 = 1 << 2 /* L2 data miss */
};
static inline unsigned signature_events(const struct graph_uop *uop) {
    unsigned events = 0;
    if (uop->flags & (GRAPH_TAKEN | GRAPH_LOAD | GRAPH_STORE))
        events |= EVENT_BIT_1;
    if (uop->flags & GRAPH_MISPREDICTED || uop->fetch_cache || uop->fetch_tlb || uop->walk)
        events |= EVENT_BIT_2;
    if (uop->flags & GRAPH_LOAD && uop->level > LEVEL_L1)
        events |= EVENT_BIT_2 | (uop->level > LEVEL_L2 ? EVENT_RESET_1 : 0);
    return events;
}

/* Bits 1 and 2 of an instruction whose µops had these events. */
static inline unsigned signature_of(unsigned events) {
    return events & EVENT_RESET_1 ? events & SIGNATURE_2 : events & (SIGNATURE_1 | SIGNATURE_2);
}

/* The context with one more instruction at its end; the oldest drops out. */
static inline uint64_t context_push(uint64_t context, unsigned signature) {
    return context >> SIGNATURE_BITS | (uint64_t)signature << (CONTEXT_BITS - SIGNATURE_BITS);
}

/* The bits of the instruction in the middle. */
static inline unsigned context_own(uint64_t context) {
    return context >> CONTEXT_INSNS * SIGNATURE_BITS & SIGNATURE_ALL;
}

/* ---- the bits of a stretch of instructions, 21 to a word ---- */

enum { SIGNATURES_PER_WORD = 64 / SIGNATURE_BITS };

static inline uint32_t signature_words(uint32_t insns) {
    return (insns + SIGNATURES_PER_WORD - 1) / SIGNATURES_PER_WORD;
}
static inline unsigned signature_at(const uint64_t *words, uint32_t insn) {
    return words[insn / SIGNATURES_PER_WORD] >> insn % SIGNATURES_PER_WORD * SIGNATURE_BITS &
           SIGNATURE_ALL;
}
static inline void signature_put(uint64_t *words, uint32_t insn, unsigned signature) {
    uint32_t shift = insn % SIGNATURES_PER_WORD * SIGNATURE_BITS;
    uint64_t *word = &words[insn / SIGNATURES_PER_WORD];
    *word = (*word & ~((uint64_t)SIGNATURE_ALL << shift)) | (uint64_t)signature << shift;
}

/* The context of an instruction of the stretch; *there: the bits of instructions that the stretch
 * has, set. */
static inline uint64_t signature_context(const uint64_t *words, uint32_t insns, uint32_t insn,
                                         uint64_t *there) {
    uint64_t context = 0;
    *there = 0;
    uint32_t first = insn < CONTEXT_INSNS ? 0 : insn - CONTEXT_INSNS;
    uint32_t last = insns - insn <= CONTEXT_INSNS ? insns - 1 : insn + CONTEXT_INSNS;
    for (uint32_t at = first; at <= last; at++) {
        uint32_t shift = (at + CONTEXT_INSNS - insn) * SIGNATURE_BITS;
        context |= (uint64_t)signature_at(words, at) << shift;
        *there |= (uint64_t)SIGNATURE_ALL << shift;
    }
    return context;
}

/* How many bits are the same in two contexts, of those that are there. */
static inline unsigned context_match(uint64_t a, uint64_t b, uint64_t there) {
    return (unsigned)__builtin_popcountll(~(a ^ b) & there);
}
