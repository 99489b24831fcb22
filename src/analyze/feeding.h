/* What instructions may have to wait for. On any core: lines and pages of code that may have been
 * evicted. On an in-order core also: results of loads that are still on their way, and units that
 * are still busy.
 *
 *     ld a0  ──► a0 pending ──► add a1, a0   waits for it ──► sub a2, a0   need not any more
 *
 * An instruction that reads a register waits until its value is there; so does one that writes it,
 * as results of one register come in order. Later instructions find it there. So a load's result is
 * pending from the load to the first instruction on each path that names its register, and only
 * that one can stall for it. This is followed through all blocks of the procedure, one register at
 * a time.
 *
 * What callers and callees leave pending follows from the calling conventions: arguments and the
 * registers that a callee keeps may come from loads at the procedure's entry; results and the
 * registers kept, which are restored by loads, behind a call. Scratch registers survive neither,
 * the stack pointer is never loaded, and the return has read the return address. Where it is not
 * known where control comes from, any other register may come from a load. */
#pragma once

#include "analyze/cfg.h"
#include "analyze/spread.h"
#include "machine/machine.h"

/* What may have to be waited for, and its maker: an instruction of the graph (a call stands for its
 * callee, a system call for the kernel), or one of these. */
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
    uint8_t *outstanding; /* by instruction: registers that older loads of the procedure may not
                             have written yet when it issues; UINT8_MAX in a procedure that
                             prefetches. Loads of callers and callees are not counted */
};

/* Finds them. There are at most FEED_MAKERS + 1 makers for each register that an instruction names
 * and each line that it begins. Time and memory grow with the code times the registers, and times
 * its lines up to a bound, beyond which every line and page counts as evicted by several. False:
 * out of memory. feeding_free() either way. */
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
