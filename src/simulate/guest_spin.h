/* Loops in which a thread of a trace waits for another: rounds that are alike, of which each reads
 * the same addresses and stores nothing, except atomically. In simulated time their number follows
 * from when the other writes. So they are held back until it is seen how the loop ended: if by what
 * another thread wrote (struct trace_order) they are dropped, if not they are handed out. */
#pragma once

#include "simulate/guest_input.h"

enum {
    SPIN_INSNS = 32, /* of a round, at most */
    SPIN_ACCESSES = 64,
    SPIN_PIECE = 512 /* instructions that are handed out at once */
};

struct guest_spin {
    struct dynamic_insn *insns;     /* a round, again and again: SPIN_PIECE at most */
    struct memory_access *accesses; /* theirs */
    uint32_t size, access_count;    /* of one round; size 0: none is held */
    uint32_t copies;                /* rounds there are */
    uint64_t first_access;
    uint32_t at;    /* instructions that came of the round under way */
    uint64_t held;  /* rounds that came before */
    uint64_t left;  /* instructions that are to be handed out, from `begin` on */
    uint32_t begin; /* index in insns[] */
    bool ended;     /* `after` and `next` come behind them */
    enum guest_step after;
    struct guest_next next;
    uint64_t dropped; /* instructions, of rounds that were dropped just before a GUEST_ORDER */
};

/* As guest_input_next(). GUEST_INSNS without instructions: the loop goes on for long. */
enum guest_step guest_spin_next(struct guest_spin *spin, struct guest_input *input, uint32_t most,
                                struct guest_next *next, struct error *error);
void guest_spin_free(struct guest_spin *spin);
/* As guest_input_give_back(). */
void guest_spin_give_back(struct guest_spin *spin, struct guest_input *input, uint32_t count);
/* Instructions that the input has handed out, but this has not, nor dropped. */
uint64_t guest_spin_backlog(const struct guest_spin *spin);
