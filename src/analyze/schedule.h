/* The static schedule (DCPI §6.1.3, §6.3): M, the cycles that an instruction spends at the head of
 * the issue queue (in order), or that commit waits for it (out of order), when nothing dynamic
 * stalls it: every access hits the L1 caches and TLBs, the write buffer has room, every branch is
 * predicted. It comes from the core model itself, which runs each block behind the code that
 * leads to it.
 *
 * DCPI scheduled each block by itself, and its M of the first instructions was too low where
 * something before the block holds them up. Here a block has an M for each edge that enters it, and
 * the mean of these, weighted by how often the edges are taken, is its M. */
#ifndef CULPRIT_ANALYZE_SCHEDULE_H
#define CULPRIT_ANALYZE_SCHEDULE_H

#include "analyze/cfg.h"
#include "core/stall_causes.h"
#include "machine/machine.h"

/* Whose cycle it is when a core commits or waits. */
enum schedule_view {
    VIEW_HEAD, /* the head of the issue queue; of an out-of-order core the next to commit (NCI) */
    VIEW_TIP   /* time-proportional: shared by those that commit together (TIP) */
};

struct static_stall {
    uint32_t insn;    /* of the graph */
    uint8_t cause;    /* STALL_SLOT, STALL_DEPENDENCE, STALL_UNIT or STALL_FETCH */
    uint32_t culprit; /* the instruction it waits for; CFG_NONE: no other, or outside */
    double cycles;    /* per execution */
};

struct schedule {
    double *cycles;              /* M, by instruction of the graph */
    double *least, *most;        /* over the edges that enter its block */
    struct static_stall *stalls; /* sorted by instruction; of an out-of-order core none */
    size_t stall_count;

    /* ---- by edge that enters a block ---- */
    size_t *entered; /* by edge: the first of its block's instructions in `by_edge`; SIZE_MAX:
                        the edge goes outside */
    double *by_edge; /* M of the instructions of a block entered by that edge */
    struct static_stall *edge_stalls; /* by edge, then instruction */
    size_t *edge_stall_first;         /* by edge, and one more */
};

/* `cycles` (by instruction of the graph; NULL: not known) tell which way leads most often to a
 * block. False: out of memory, or the machine does not run this code. schedule_free() either way.
 */
bool schedule_make(struct schedule *schedule, const struct cfg *cfg, const struct machine *machine,
                   enum schedule_view view, const double *cycles, struct error *error);
void schedule_free(struct schedule *schedule);

/* Weighs the edges that enter a block by how often they are taken (by edge; NULL, and where all are
 * 0: alike), and fills in `cycles` and `stalls`. schedule_make() has done so with NULL. */
void schedule_weigh(struct schedule *schedule, const struct cfg *cfg, const double *executions);

#endif
