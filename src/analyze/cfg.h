/* Control-flow graph of a procedure, from its machine code (DCPI §6.1.1).
 *
 *     outside ──► block 0 ──► ... ──► outside
 *
 * Any byte sequence gives a graph. Where control may go elsewhere than the edges tell (an indirect
 * jump whose targets the code does not show, bytes that do not decode, jumps into the middle of
 * instructions), the graph is flagged, and analyses that need all edges do without. Blocks end
 * where the frequency may change: at branches, at targets, at calls that may not return; other
 * calls are within a block, and control comes back behind them. */
#pragma once

#include "analyze/procedure.h"
#include "util/error.h"

enum { CFG_NONE = UINT32_MAX }; /* outside; no instruction, no block */

enum cfg_flags {
    CFG_MISSING_EDGES = 1 << 0, /* an indirect jump may lead to places that are not known */
    CFG_OVERLAPPING = 1 << 1,   /* instructions that share bytes */
    CFG_UNDECODABLE = 1 << 2,   /* control reaches bytes that are no instruction */
    CFG_RUNS_OUT = 1 << 3,  /* control runs past the procedure's end, or the code is truncated */
    CFG_UNREACHED = 1 << 4, /* blocks that no known edge reaches: landing pads of exceptions,
                               targets of jumps that are not known */
    CFG_ENDLESS = 1 << 5    /* a loop that nothing leaves */
};

enum cfg_edge_kind {
    EDGE_ENTRY,  /* from outside to where the procedure is called, also by itself: a local
                    subroutine */
    EDGE_FALL,   /* to the next instruction */
    EDGE_TAKEN,  /* by a direct branch */
    EDGE_TABLE,  /* by an indirect jump whose targets the code shows */
    EDGE_RETURN, /* to outside: return */
    EDGE_TAIL,   /* to outside: a jump to another procedure or to an unknown target; also one edge
                    beside those of a table, if entries lead outside */
    EDGE_STOP,   /* to outside: a call that does not return, a trap, the end of what is known */
    EDGE_UNKNOWN /* from outside, to a block to which no way was found */
};
const char *cfg_edge_kind_name(enum cfg_edge_kind kind); /* "fall through" */

struct cfg_edge {
    uint32_t from, to; /* blocks, or CFG_NONE: outside */
    uint8_t kind;      /* enum cfg_edge_kind */
};

struct cfg_insn {
    uint32_t offset; /* of its first byte in the procedure */
    uint32_t block;
    struct insn insn;
};

struct cfg_block {
    uint32_t first_insn, insn_count; /* ≥ 1 */
    uint32_t first_out, out_count;   /* in `edges` */
    uint32_t first_in, in_count;     /* in `in_edges` */
    uint32_t loop_depth;             /* natural loops around it; 0: none. A cycle that control
                                        enters at several places is no loop */
    uint32_t loop;                   /* head of the innermost of them; CFG_NONE: none. A head's own
                                        loop is its innermost */
    uint32_t outer_loop;             /* of a head: that of the next loop around; else CFG_NONE */
};

struct cfg {
    const struct procedure_code *code;
    uint32_t flags;           /* enum cfg_flags */
    struct cfg_insn *insns;   /* by block; those of a block follow each other in memory. Blocks lie
                                 by the offset of their first instruction */
    struct cfg_block *blocks; /* 0 holds the procedure's first byte */
    struct cfg_edge *edges;   /* by `from`, those from outside last */
    uint32_t *in_edges;       /* numbers of edges, by `to` */
    uint32_t *at;             /* by offset: the instruction that begins there; CFG_NONE: none */
    uint32_t insn_count, block_count, edge_count, outer_count; /* the last: edges from outside */
    uint32_t unresolved; /* indirect jumps with unknown targets */
};

/* At most 16 Mi bytes of code; building takes some 250 bytes for each instruction and 4 for each
 * byte, and time in proportion to them. False: out of memory, too much code, or no instruction
 * begins at its first byte. cfg_free() either way. */
bool cfg_build(struct cfg *cfg, const struct procedure_code *code, struct error *error);
void cfg_free(struct cfg *cfg);

/* The instruction that begins at an offset; CFG_NONE: none. */
uint32_t cfg_insn_at(const struct cfg *cfg, uint32_t offset);
