/* Inside of this room: what an instruction does to addresses in registers and to memory, decoded
 * once: a block is worked through many times. */
#pragma once

#include "isa/access.h"
#include "isa/expression.h"

struct cfg;

struct access_insn {
    struct expression by;
    bool has_access, has_product, has_move;
    uint8_t
        stored; /* the register that a store writes; REG_NONE: none of those that are followed */
    struct access_address access;
    struct product product;
    struct conditional_move move;
};

/* Of all instructions of the graph, for free(). NULL: out of memory. */
struct access_insn *access_insns_decode(const struct cfg *cfg);
