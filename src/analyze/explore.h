/* Machine code found by following control from the procedure's first byte (recursive descent), and
 * then from whatever lies between and is not padding. Inside of this room: cfg.c makes blocks of
 * it.
 *
 * Each offset is decoded at most once, and tables of jumps are read within a budget, so that time
 * and memory grow only with the code's size, whatever it contains. */
#pragma once

#include "analyze/cfg.h"

/* Where control goes other than to the next instruction. A link without `from` and `to` is ignored.
 */
struct code_link {
    uint32_t from;      /* instruction found; CFG_NONE: outside */
    uint32_t to;        /* offset; CFG_NONE: outside */
    uint32_t next_into; /* the next of those that lead to the same instruction; CFG_NONE: none */
    int32_t depth;      /* of the stack where it leads: code_depth */
    uint8_t kind;       /* enum cfg_edge_kind */
};

/* Bytes below where the stack pointer was at the entry. */
enum code_depth { DEPTH_UNKNOWN = INT32_MIN };

struct code_insn {
    uint32_t offset;
    uint32_t first_into; /* in `links`; CFG_NONE: none */
    bool falls;          /* control may go on behind it */
    bool ends;           /* a block ends with it */
    bool leads;          /* a block begins with it: cfg.c */
    bool fallen_into;    /* from the instruction in front of it: cfg.c */
    bool entered;        /* from outside */
    uint32_t number;     /* in the graph: cfg.c */
    struct insn insn;
};

/* An instruction whose continuation is not decided yet. */
struct code_open {
    uint32_t insn;
    int32_t depth; /* of the stack in front of it */
};

struct open_list {
    struct code_open *items;
    size_t count, capacity;
};

struct exploration {
    const struct procedure_code *code;
    uint32_t *at; /* by offset: the instruction that begins there; CFG_NONE: none */
    struct code_insn *insns;
    size_t insn_count, insn_capacity;
    struct code_link *links; /* as they were found */
    size_t link_count, link_capacity;
    size_t followed;        /* links */
    struct open_list jumps; /* indirect ones */
    struct open_list late;  /* those that may be decided better when more is known */
    struct open_list calls; /* that padding follows */
    bool has_frame;         /* the stack pointer is moved somewhere */
    uint32_t flags;         /* enum cfg_flags */
    uint32_t unresolved;    /* jumps */
    bool out_of_memory;
};

/* The code is at most 16 Mi bytes. False: out of memory, or no instruction begins at its first
 * byte. exploration_free() either way. */
bool explore(struct exploration *exploration, const struct procedure_code *code,
             struct error *error);
void exploration_free(struct exploration *exploration);

/* Whether instructions in a row begin at an offset that end as code does: they leave, or reach the
 * start of an instruction found before. `*stop` is behind what was looked at. */
bool exploration_finds_code(const struct exploration *exploration, uint32_t offset, uint32_t *stop);

/* The offset behind an instruction that was found. */
static inline uint32_t code_behind(const struct code_insn *found) {
    return found->offset + found->insn.length;
}
