/* Which causes the code leaves possible for an instruction's stalls, one rule for each (DCPI §6.3).
 *
 * Of a core in order, whose head of the issue queue was sampled:
 *   I-cache, ITLB   the first to lie in a line or page since it may have been evicted (feeding.h):
 *                   on the way from outside, from a call, or from code too far away
 *   mispredict      a branch that can be mispredicted can run just before, or returns there
 *   D-cache, DTLB   a load feeds it (feeding.h), or it loads and uses in one. Stores are translated
 *                   by the write buffer: they wait for their operands only
 *   unit busy       it needs a unit that a caller or callee may hold
 *   miss registers  a load, and enough others may be on their way
 *   write buffer    a store
 *   synchronisation it serialises or waits for stores, or comes behind what flushes
 * Of one out of order, where commit waited, all operands are there when an instruction is the
 * oldest: D-cache, DTLB and miss registers are a load's own, and DTLB a store's, which commits
 * translated. The rest is the same. What the front end or a flush held up may also show as latency
 * of the next instructions there, which nothing explains; so may loads that went ahead of a store
 * wrongly.
 *
 * Interrupts, signals and code that is written while it runs are not thought of, nor misaligned
 * accesses of riscv64. */
#pragma once

#include "analyze/feeding.h"

enum before_kind {
    BEFORE_INSN,    /* an instruction of the graph */
    BEFORE_CALLEE,  /* the return of what an instruction of the graph called */
    BEFORE_OUTSIDE, /* code outside of the procedure */
    BEFORE_JUMP     /* some indirect jump of the graph that may lead anywhere */
};
/* What can run just before an instruction. */
struct before {
    uint32_t insn; /* that runs before or that calls; else CFG_NONE */
    uint32_t edge; /* by which control comes; CFG_NONE: within the block, or by no known edge */
    uint8_t kind;  /* enum before_kind */
};
uint32_t before_count(const struct cfg *cfg, uint32_t insn);
struct before before_at(const struct cfg *cfg, uint32_t insn, uint32_t index);

/* Causes as bits 1 << enum stall_cause: of an instruction when that ran before it. */
uint32_t suspects_before(const struct cfg *cfg, const struct machine *machine,
                         const struct before *before);
/* Causes of the instruction itself, whatever runs before. `outstanding` as in feeding.h; 0 out of
 * order. */
uint32_t suspects_itself(const struct cfg *cfg, const struct machine *machine, uint32_t insn,
                         uint32_t outstanding);
/* Causes that come from what feeds it. */
uint32_t suspects_fed(const struct machine *machine, enum feed_kind kind);
