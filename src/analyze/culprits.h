/* Why instructions stall (DCPI §6.3): "guilty until proven innocent". All causes are suspected.
 * Those that the code rules out, or that the surroundings of the instruction make extremely
 * unlikely, are eliminated; the others are listed, each with the instruction to blame and, if
 * known, a bound. */
#pragma once

#include "analyze/frequency.h"

/* Which causes the code does not rule out, as bits 1 << enum stall_cause by instruction of the
 * graph; suspects.h has the rules. They are dynamic causes, and STALL_UNIT if a unit may have been
 * busy since before the code that the static schedule sees. The producers of operands are searched
 * for through all blocks; a value that comes from a caller or a callee may come from a load. False:
 * out of memory. */
bool culprits_possible(const struct cfg *cfg, const struct machine *machine, uint32_t *causes,
                       struct error *error);

struct culprit {
    uint32_t insn;   /* that stalls */
    uint8_t cause;   /* a dynamic one, or STALL_UNIT */
    uint32_t blamed; /* instruction at fault: the load (the stalled one itself, if it uses what it
                        loads), the branch, the flushing one, the one that holds the unit.
                        CFG_NONE: no other, or it is not in this procedure */
    double most;     /* cycles that it explains at most (see below); INFINITY: no bound is known */
};

/* Bounds are pessimistic: each time that the blamed instruction ran and the stalled one may have
 * come behind it (or, where events were sampled, each event) costs the dearest: a miss the latency
 * of memory, twice where miss registers of outer caches are fewer than what can ask for them; a
 * TLB miss a walk; a mispredicted branch the way from its execution to the head of the queue.
 * Culprits that explain less than a twentieth of a stall even so are left out of the list, though
 * nothing else is left; what they can explain counts in the summary all the same.
 *
 * Of an instruction. Cycles are totals over all executions. Where executions are not known, all
 * cycles are stall. */
struct insn_stall {
    double executed;     /* executions × min(M, 1): cycles in which it issues */
    double static_stall; /* executions × (M − 1) where M is above 1 */
    double stall;   /* dynamic: cycles − executions × M, where that is more than the error of
                       sampling; else 0 */
    double error;   /* what is within the error of sampling, signed: two standard deviations of as
                       many samples (Poisson); none where every cycle was counted */
    double gain;    /* cycles below executions × M, beyond it: unexplained gain */
    bool explained; /* a culprit is left */
};

/* What a procedure's cycles went to (DCPI Fig. 4). All in cycles. */
struct stall_range {
    double least; /* what the bounds of all other possible causes do not explain: all of the stall
                     if no other is possible */
    double most;  /* if it is possible at all, up to its bound */
};
struct stall_summary {
    double total;                             /* all cycles */
    struct stall_range dynamic[STALL_CAUSES]; /* of dynamic causes, and of STALL_UNIT */
    double static_stalls[STALL_CAUSES];       /* of static ones; STALL_NONE: the schedule does not
                                                 tell which (out of order) */
    double unexplained_stall, unexplained_gain;
    double execution, sampling_error; /* the rest; all but ranges sum to the total:
        total = execution + Σ static_stalls + explained + unexplained_stall
                − unexplained_gain + sampling_error */
    double explained;                 /* dynamic stall up to the bounds of its possible causes */
};

struct culprits {
    struct culprit *list; /* sorted by instruction, then cause */
    size_t count;
    uint32_t *first; /* by instruction, and one more */
    struct insn_stall *insns;
    struct stall_summary summary;
};

/* Finds the culprits; `possible` is what culprits_possible() filled in. Causes are bounded by
 * events (each may be missing) and by the machine: the latency of memory times how often the event
 * can have happened. False: out of memory. culprits_free() either way. */
bool culprits_find(struct culprits *culprits, const struct cfg *cfg, const struct machine *machine,
                   const struct schedule *schedule, const struct frequency *frequency,
                   const uint32_t *possible, const struct procedure_samples *samples,
                   struct error *error);
void culprits_free(struct culprits *culprits);
