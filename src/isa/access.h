/* Where an instruction's memory operand is: for telling what it accesses. A pure function of its
 * arguments, safe on any bytes. */
#pragma once

#include "isa/insn.h"

/* base + (index << shift) + constant. */
struct access_address {
    uint8_t base, index; /* registers; REG_NONE: 0 */
    uint8_t shift;
    bool is_stack;  /* what push, pop, call and return access besides their operands */
    bool is_thread; /* relative to the thread pointer (fs, gs) */
    bool is_load, is_store;
    uint16_t size_bytes; /* 0: not known */
    int64_t constant;    /* addresses relative to the instruction are resolved */
};

/* The memory operand of the instruction at `bytes`, which stands at `address`; of several the one
 * that it names, before the stack. False: it has none. */
bool insn_access_address(enum isa isa, const uint8_t *bytes, size_t size, uint64_t address,
                         struct access_address *access);

/* What else carries an address, or the step of an index: `to` = a source times `factor`; or `to`
 * stays, or becomes `from`. Registers; REG_NONE: from memory. */
struct product {
    uint8_t to;
    int64_t factor;
};
bool insn_product(enum isa isa, const uint8_t *bytes, size_t size, struct product *product);
struct conditional_move {
    uint8_t to, from;
};
bool insn_conditional_move(enum isa isa, const uint8_t *bytes, size_t size,
                           struct conditional_move *move);
