/* What instructions may have to wait for: of any core, lines and pages of code that something may
 * have evicted; of a core in order, results of loads that are still on their way, and units that
 * are still busy.
 *
 *     ld a0  ──► a0 pending ──► add a1, a0   waits for it ──► sub a2, a0   need not any more
 *
 * An instruction that reads a register waits until its value is there; so does one that writes it,
 * as results of one register come in order. Later instructions find it there. So a load's result is
 * pending from the load to the first instruction on each path that names its register, and that one
 * alone can stall for it. Found through all blocks of the procedure, a register at a time.
 *
 * What callers and callees leave pending follows from the conventions of calls: arguments and the
 * registers that a callee keeps may come from loads at the procedure's entry; results and the
 * registers kept, which are restored by loads, behind a call. Scratch registers outlive neither,
 * the stack pointer is never loaded, and the return address was read by the return. Where it is not
 * known from where control comes, any other register may come from a load. */
#ifndef CULPRIT_ANALYZE_FEEDING_H
#define CULPRIT_ANALYZE_FEEDING_H

#include "analyze/cfg.h"
#include "analyze/spread.h"
#include "machine/machine.h"

/* What may have to be waited for, and who made it so: an instruction of the graph, of which a call
 * stands for its callee and a system call for the kernel, or one of these. */
enum {
    FEED_CALLER = UINT32_MAX - 1,  /* whoever called or jumped to the procedure */
    FEED_SEVERAL = SPREAD_SEVERAL, /* more than FEED_MAKERS of them */
    FEED_MAKERS = SPREAD_MAKERS
};

enum feed_kind {
    FEED_LOAD, /* a register that a load may write */
    FEED_UNIT, /* a unit that is not pipelined, used by a caller or callee */
    FEED_LINE, /* of the I-cache: what may have evicted it since it was last fetched */
    FEED_PAGE  /* of the ITLB: likewise */
};

struct feed {
    uint32_t insn;  /* that may wait */
    uint32_t maker; /* the instruction itself: what it loads */
    uint8_t kind;   /* enum feed_kind */
};

struct feeding {
    struct feed *feeds; /* sorted by instruction, kind, maker; without duplicates */
    size_t count, capacity;
    size_t *first;        /* by instruction, and one more */
    uint8_t *outstanding; /* by instruction: registers that older loads of the procedure may still
                             owe as it issues; UINT8_MAX in a procedure that prefetches. Those that
                             callers and callees owe are not counted */
};

/* At most FEED_MAKERS + 1 makers for each register that an instruction names and each line that it
 * begins. Time and memory grow with the code times the registers, and times its lines up to a
 * bound, beyond which every line and page counts as evicted by several. False: out of memory.
 * feeding_free() either way. */
bool feeding_find(struct feeding *feeding, const struct cfg *cfg, const struct machine *machine,
                  struct error *error);
void feeding_free(struct feeding *feeding);

/* A call, behind which the callee has run. */
static inline bool insn_calls(const struct insn *insn) {
    return insn->branch == BRANCH_CALL || insn->branch == BRANCH_INDIRECT_CALL;
}

/* ---- inside ---- */

/* False: out of memory. */
bool feeding_add(struct feeding *feeding, uint32_t insn, enum feed_kind kind, uint32_t maker);
/* Adds lines and pages (fetching.c) or registers and units (operands.c). */
bool feeding_find_fetches(struct feeding *feeding, const struct cfg *cfg,
                          const struct machine *machine);
bool feeding_find_operands(struct feeding *feeding, const struct cfg *cfg,
                           const struct machine *machine);

#endif
