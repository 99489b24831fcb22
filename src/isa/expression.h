/* What an instruction computes, if that is simple: for following addresses of tables, bounds of
 * indices and the stack pointer back through code. A pure function of its arguments, safe on any
 * bytes. */
#pragma once

#include "isa/insn.h"

/* ADDRESS stands for base + (index << shift) + constant. */
enum expression_kind {
    EXPRESSION_NONE,           /* not simple: what the instruction writes is unknown */
    EXPRESSION_SUM,            /* to = ADDRESS: also constants, moves and widenings */
    EXPRESSION_AND,            /* to = base & constant */
    EXPRESSION_SHIFT_RIGHT,    /* to = base >> shift, zeros shifted in */
    EXPRESSION_LOAD,           /* to = memory at ADDRESS */
    EXPRESSION_COMPARE,        /* of x86-64: flags of base − (right + limit) */
    EXPRESSION_COMPARE_LOADED, /* of x86-64: flags of memory at ADDRESS − (right + limit) */
    EXPRESSION_BRANCH,         /* jumps if the condition holds: of x86-64 of the flags, of riscv64
                                  of base and right */
    EXPRESSION_JUMP,           /* goes to ADDRESS */
    EXPRESSION_JUMP_LOADED     /* goes to where memory at ADDRESS says */
};

/* Comparisons of unsigned numbers. */
enum condition {
    CONDITION_OTHER,
    CONDITION_BELOW,
    CONDITION_BELOW_EQUAL,
    CONDITION_ABOVE,
    CONDITION_ABOVE_EQUAL
};

/* An instruction may write more than `to`, which is then unknown. */
struct expression {
    uint8_t kind;        /* enum expression_kind */
    uint8_t to;          /* register; REG_NONE: none */
    uint8_t base, index; /* registers; REG_NONE: 0 */
    uint8_t right;       /* register; REG_NONE: 0 */
    uint8_t shift;
    uint8_t condition; /* enum condition */
    uint8_t width; /* bytes: of the result of a sum, and, shift; of memory; of what is compared. The
                      result is extended from them to 8 */
    bool is_signed;     /* extended by the sign, else by zeros */
    int16_t stack_step; /* what is added to the stack pointer besides: push, pop */
    int64_t constant;   /* addresses relative to the instruction are resolved */
    int64_t limit;
};

/* The expression of the instruction at `bytes`, which stands at `address`. Bytes that do not
 * decode: NONE. */
struct expression insn_expression(enum isa isa, const uint8_t *bytes, size_t size,
                                  uint64_t address);
