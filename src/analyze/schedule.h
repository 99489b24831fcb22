/* The static schedule (DCPI §6.1.3, §6.3): M, the cycles that an instruction spends at the head of
 * the issue queue (in order), or that commit waits for it (out of order), when nothing dynamic
 * stalls it: every access hits the L1 caches and TLBs, the write buffer has room, every branch is
 * predicted. It comes from the core model itself, which runs each block behind the code that
 * leads to it.
 *
 * DCPI scheduled each block by itself, and its M of the first instructions was too low where
 * something before the block holds them up. Here a block has an M for each edge that enters it, and
 * the mean of these, weighted by how often the edges are taken, is its M.
 *
 * What is assumed where the code does not tell:
 * - Before an edge comes the likeliest code: backwards, each block by the edge from where most
 *   cycles per instruction were seen (of several, or without samples, the innermost loop, then what
 *   falls through). A loop that the edge closes goes round several times; M is the mean over the
 *   last of them.
 * - Control comes from outside, from a caller or back from a callee, behind a full stop, so that no
 *   result is on its way and no unit busy, and then seven one-cycle instructions and a taken jump.
 *   Outside an out-of-order core goes on with such instructions. (In the programs that this was
 *   measured on, entries have that M within 1 %, and instructions behind calls too little by 0 to
 *   44 %: short callees do not hide the bubble of their return.)
 * - Loads read one line, stores write another: nothing is forwarded, nothing waits for a store.
 * - A repeated string instruction moves one element, a gather loads one lane.
 * - What fences, serialises, flushes or enters the kernel does so where causes are told apart, with
 *   VIEW_HEAD of an in-order core, and what of that is STALL_SYNCHRONISATION, being dynamic, is
 *   left out of M. Elsewhere it is taken as a plain instruction of its class. */
#pragma once

#include "analyze/cfg.h"
#include "core/stall_causes.h"
#include "machine/machine.h"

/* Whose cycle it is when a core commits or waits. */
enum schedule_view {
    VIEW_HEAD, /* the head of the issue queue; of an out-of-order core the next to commit (NCI) */
    VIEW_TIP   /* time-proportional: shared by those that commit together (TIP) */
};

/* Runs the schedules of one machine, procedure after procedure, on one core, since making a core is
 * expensive. */
struct scheduler;
struct scheduler *scheduler_new(const struct machine *machine, enum schedule_view view,
                                struct error *error);
void scheduler_free(struct scheduler *scheduler);

struct static_stall {
    uint32_t insn;    /* of the graph */
    uint8_t cause;    /* STALL_DEPENDENCE, STALL_UNIT or STALL_FETCH */
    uint32_t culprit; /* the instruction it waits for (itself: its last execution); CFG_NONE: no
                         other, or outside */
    double cycles;    /* per execution */
};

enum {
    /* At most so many of the edges that enter a block are scheduled, the likeliest; only one if the
     * block has more instructions than that. The others take the mean of those. */
    SCHEDULE_EDGES = 16,
    SCHEDULE_LONG_BLOCK = 4096
};

struct schedule {
    double *cycles;       /* M, by instruction of the graph */
    double *least, *most; /* over the edges that enter its block */
    double *soonest;      /* out of order: its part of a full commit, all that it takes behind a
                             stall that hides what it waits for. In order NULL */
    struct static_stall
        *stalls; /* sorted by instruction; with VIEW_HEAD of an in-order core only */
    size_t stall_count;

    /* ---- by edge that enters a block ---- */
    size_t *entered; /* by edge: the first of its block's instructions in `by_edge`; SIZE_MAX:
                        the edge goes outside */
    double *by_edge; /* M of the instructions of a block entered by that edge */
    struct static_stall *edge_stalls; /* by edge, then instruction; of scheduled edges */
    size_t *edge_stall_first;         /* by edge, and one more */
    bool *scheduled;                  /* by edge; those that are not share their `entered` */
};

/* `cycles` (by instruction of the graph; NULL: not known) tell which way leads most often to a
 * block. Takes some 200 bytes for each instruction of the graph while it runs, and some 10 µs (in
 * order) or 40 µs (out of order, a ROB of 320) for each edge. False: out of memory.
 * schedule_free() either way. */
bool schedule_make(struct schedule *schedule, struct scheduler *scheduler, const struct cfg *cfg,
                   const double *cycles, struct error *error);
void schedule_free(struct schedule *schedule);

/* Weighs the edges that enter a block by how often they are taken (by edge; NULL, and where all are
 * 0: alike), and fills in `cycles` and `stalls`. schedule_make() has done so with NULL. */
void schedule_weigh(struct schedule *schedule, const struct cfg *cfg, const double *executions);
