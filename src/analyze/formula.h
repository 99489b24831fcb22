/* A value as a formula of what registers held at an earlier point, made by going back through the
 * code that computed it: each step replaces a register by what the instruction that writes it
 * computes. Inside of this room.
 *
 *     jmp *%rax            rax
 *     add %rdx,%rax        rax + rdx
 *     movslq (%rdx,%rcx,4) load(rdx + (rcx << 2)) + rdx */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "isa/expression.h"

enum term_kind {
    TERM_UNKNOWN,
    TERM_CONSTANT,
    TERM_REGISTER,
    TERM_INDEX, /* the one variable: from 0 to the formula's limit */
    TERM_ADD,   /* left + right */
    TERM_SHIFT_LEFT,
    TERM_SHIFT_RIGHT,
    TERM_AND,    /* left & constant */
    TERM_EXTEND, /* the low `width` bytes of left */
    TERM_LOAD    /* `width` bytes of memory at left */
};

struct term {
    uint8_t kind; /* enum term_kind */
    uint8_t reg;
    uint8_t width; /* bytes */
    bool is_signed;
    uint8_t shift;
    uint8_t left, right; /* terms, each of one other term only */
    uint64_t constant;
};

/* An operand known to be at most `limit` where control comes this way. */
struct bound {
    uint8_t root;
    uint8_t width; /* bytes compared */
    uint64_t limit;
};

enum { FORMULA_TERMS = 120, FORMULA_BOUNDS = 4 };

struct formula {
    struct term terms[FORMULA_TERMS];
    struct bound bounds[FORMULA_BOUNDS];
    uint8_t term_count, root, bound_count;
    bool has_index;
    uint64_t limit; /* of the index */
};

/* The value of ADDRESS of an expression (isa/expression.h), or of what memory holds there. */
void formula_start(struct formula *formula, const struct expression *expression, bool loads);

/* Goes back over an instruction. What it writes is unknown if `by` does not tell it; a call keeps
 * the registers that its callee must keep. */
void formula_step(struct formula *formula, const struct insn *insn, const struct expression *by);

/* Notes that the left operand of a comparison (`right`: the right one of a branch of riscv64) is at
 * most `limit` here. */
void formula_bound(struct formula *formula, const struct expression *comparison, bool right,
                   uint64_t limit);

/* Makes the bounded operand the index, if it is a part of the formula. */
void formula_find_index(struct formula *formula);
/* Likewise a part that can have few values by itself, at most `most`: masked, or a byte. */
void formula_guess_index(struct formula *formula, uint64_t most);
/* Likewise what is scaled in the address of a load; it has no bound. */
void formula_open_index(struct formula *formula);

/* Whether a register of the formula stands for an earlier value; the first one found. */
bool formula_register(const struct formula *formula, uint8_t *reg);
void formula_set_register(struct formula *formula, uint8_t reg, uint64_t value);

/* Nothing is left but constants and the index. */
bool formula_is_closed(const struct formula *formula);
/* It has the form of a table's entry: what is loaded from a scaled index, or a sum of what is
 * loaded and not as wide as an address. */
bool formula_is_table(const struct formula *formula);
/* It is a whole address that memory holds; at a constant address. */
bool formula_loads_address(const struct formula *formula);
bool formula_is_fixed_load(const struct formula *formula);

/* The value of a closed formula for an index. False: `read` failed. */
bool formula_value(const struct formula *formula, uint64_t index,
                   bool (*read)(void *context, uint64_t address, void *bytes, size_t size),
                   void *context, uint64_t *value);

/* Whether callees keep a register (x86-64 System V, RISC-V). */
bool register_is_kept(enum isa isa, uint8_t reg);
