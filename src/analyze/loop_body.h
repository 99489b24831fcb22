/* What the code of a loop says of how its rounds depend on each other: what can be computed rounds
 * ahead, what never changes, which branches choose between values. Results hold for the code as it
 * stands, whatever the data are; what cannot be told is said to be unknown. */
#pragma once

#include "analyze/cfg.h"

enum {
    LOOP_BODY_MOST = 1024,    /* instructions; of longer loops nothing is told */
    LOOP_ARM_MOST = 16,       /* instructions of what a branch chooses */
    LOOP_STEPS_MOST = 1 << 24 /* looks at an instruction, of all questions about a loop; then what
                                 its addresses come from is unknown */
};

struct loop_body {
    const struct cfg *cfg;
    uint32_t head;    /* a block */
    uint32_t *insns;  /* of the loop and those within it, numbers in the graph, ascending */
    uint32_t *blocks; /* likewise */
    uint32_t insn_count, block_count;
    uint8_t *marks;  /* work space, by instruction and by block of the graph */
    uint8_t *chains; /* by place in `insns`, what is known so far of loads that need themselves */
    uint32_t *work;  /* work space, likewise */
    uint64_t *steps; /* so far */
};

/* Of the loop with this head. False: out of memory, or the loop is too long. loop_body_free()
 * either way. */
bool loop_body_build(struct loop_body *body, const struct cfg *cfg, uint32_t head);
void loop_body_free(struct loop_body *body);

/* Where the address that an instruction of the body loads from comes from. */
enum address_origin {
    ADDRESS_UNKNOWN,
    ADDRESS_FIXED,    /* the same in all rounds */
    ADDRESS_COMPUTED, /* from counters and other values that no load is needed for */
    ADDRESS_LOADED,   /* from what loads give whose own addresses are computed: a[b[i]] */
    ADDRESS_CHASED    /* from what it, or another load that waits for itself, gave a round ago */
};
enum address_origin loop_address_origin(const struct loop_body *body, uint32_t insn);

/* Whether an instruction is a division by the same value in all rounds. */
bool loop_divides_by_invariant(const struct loop_body *body, uint32_t insn);

/* Whether the conditional branch at the end of a block chooses between a few instructions, without
 * calls, branches and more than one store, and nothing or a few others. */
bool branch_selects(const struct cfg *cfg, uint32_t insn);

/* Whether the loop does scalar floating-point arithmetic, round by round independent in its
 * registers, on elements that follow each other in memory: their size in bytes; 0: it does not. */
unsigned loop_scalar_stream(const struct loop_body *body);
