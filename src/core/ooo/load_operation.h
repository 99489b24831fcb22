/* A load and the operation behind it that overwrites what was loaded pass as one, as `add rax, [m]`
 * does: mov rax, [m]; add rax, rdx (Redwood Cove, by measurement: docs/results/host-blocks.md). Of
 * integers of 32 or 64 bits, both of the same; add, sub, and, or, xor of another register, and neg;
 * with nothing between them. Of the pair only that its load is not renamed is modelled
 * (core.renaming_overwritten). */
#pragma once

#include "trace/dynamic.h"

/* An instruction without prefixes but REX, of one byte of opcode, and its ModRM operands. */
struct plain_operands {
    uint8_t opcode, mod, reg, rm;
    bool wide; /* 64 bits, else 32 */
};

static inline struct plain_operands plain_operands(const struct static_insn *insn) {
    enum { REX = 0x40, REX_W = 8, REX_R = 4, REX_B = 1 };
    const uint8_t *code = insn->bytes;
    const uint8_t rex = (*code & 0xf0) == REX ? *code++ : 0;
    return (struct plain_operands){.opcode = code[0],
                                   .mod = code[1] >> 6,
                                   .reg = (uint8_t)((code[1] >> 3 & 7) | (rex & REX_R ? 8 : 0)),
                                   .rm = (uint8_t)((code[1] & 7) | (rex & REX_B ? 8 : 0)),
                                   .wide = rex & REX_W};
}

/* Registers by number and width, so that a load and an operation can be compared; 0: none. */
static inline uint8_t written_register(uint8_t number, bool wide) {
    return (uint8_t)(1 + 2 * number + wide);
}

/* mov r, [m]: what it loads. */
static inline uint8_t loaded_register(const struct static_insn *insn) {
    const struct plain_operands has = plain_operands(insn);
    return has.opcode == 0x8b && has.mod != 3 ? written_register(has.reg, has.wide) : 0;
}

/* An operation that may pass with such a load: what it overwrites. */
static inline uint8_t overwritten_register(const struct static_insn *insn) {
    enum { NEG = 3 };
    const struct plain_operands has = plain_operands(insn);
    if (has.mod != 3)
        return 0;
    switch (has.opcode) {
    case 0x01: /* add */
    case 0x09: /* or */
    case 0x21: /* and */
    case 0x29: /* sub */
    case 0x31: /* xor */
        return has.reg != has.rm ? written_register(has.rm, has.wide) : 0;
    case 0x03: /* the same, the other way round */
    case 0x0b:
    case 0x23:
    case 0x2b:
    case 0x33:
        return has.reg != has.rm ? written_register(has.reg, has.wide) : 0;
    case 0xf7:
        return (has.reg & 7) == NEG ? written_register(has.rm, has.wide) : 0;
    default:
        return 0;
    }
}
