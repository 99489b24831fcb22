/* Compressed instructions (RVC, of the RISC-V manual's volume I) as the 32-bit instructions they
 * stand for. Reserved encodings expand to 0, which is no instruction. Hints expand to instructions
 * that write x0. c.mv expands to addi rd, rs, 0 instead of add rd, x0, rs: the same work, and
 * prints as mv. */
#include "isa/riscv64_table.h"

enum { ZERO = 0, RA = 1, SP = 2 };

/* Bits `from` and up, `count` of them, moved to position `to`. */
static uint32_t bits(uint32_t word, unsigned from, unsigned count, unsigned to) {
    return (word >> from & ((1u << count) - 1)) << to;
}

static int32_t sign_extend(uint32_t value, unsigned width) {
    return (int32_t)(value << (32 - width)) >> (32 - width);
}

static uint32_t make_r(uint32_t base, unsigned rd, unsigned rs1, unsigned rs2) {
    return base | rs2 << 20 | rs1 << 15 | rd << 7;
}
static uint32_t make_i(uint32_t base, unsigned rd, unsigned rs1, int32_t imm) {
    return base | (uint32_t)imm << 20 | rs1 << 15 | rd << 7;
}
static uint32_t make_s(uint32_t base, unsigned rs1, unsigned rs2, uint32_t imm) {
    return base | bits(imm, 5, 7, 25) | rs2 << 20 | rs1 << 15 | bits(imm, 0, 5, 7);
}
static uint32_t make_b(uint32_t base, unsigned rs1, int32_t offset) {
    uint32_t imm = (uint32_t)offset;
    return base | bits(imm, 12, 1, 31) | bits(imm, 5, 6, 25) | rs1 << 15 | bits(imm, 1, 4, 8) |
           bits(imm, 11, 1, 7);
}
static uint32_t make_j(unsigned rd, int32_t offset) {
    uint32_t imm = (uint32_t)offset;
    return 0x6f | bits(imm, 20, 1, 31) | bits(imm, 1, 10, 21) | bits(imm, 11, 1, 20) |
           bits(imm, 12, 8, 12) | rd << 7;
}

enum base {
    ADDI = 0x13,
    ADDIW = 0x1b,
    SLLI = 0x1013,
    SRLI = 0x5013,
    SRAI = 0x40005013,
    ANDI = 0x7013,
    ADD = 0x33,
    SUB = 0x40000033,
    XOR = 0x4033,
    OR = 0x6033,
    AND = 0x7033,
    ADDW = 0x3b,
    SUBW = 0x4000003b,
    LUI = 0x37,
    LW = 0x2003,
    LD = 0x3003,
    FLD = 0x3007,
    SW = 0x2023,
    SD = 0x3023,
    FSD = 0x3027,
    BEQ = 0x63,
    BNE = 0x1063,
    JALR = 0x67,
    EBREAK = 0x00100073
};

static uint32_t expand_quadrant0(uint32_t c) {
    unsigned rd = 8 + (c >> 2 & 7), rs1 = 8 + (c >> 7 & 7);
    uint32_t word_offset = bits(c, 10, 3, 3) | bits(c, 6, 1, 2) | bits(c, 5, 1, 6);
    uint32_t double_offset = bits(c, 10, 3, 3) | bits(c, 5, 2, 6);
    uint32_t stack_offset =
        bits(c, 11, 2, 4) | bits(c, 7, 4, 6) | bits(c, 6, 1, 2) | bits(c, 5, 1, 3);
    switch (c >> 13) {
    case 0: /* c.addi4spn */
        if (c == 0)
            return RISCV64_UNIMP;
        return stack_offset == 0 ? 0 : make_i(ADDI, rd, SP, (int32_t)stack_offset);
    case 1: /* c.fld */
        return make_i(FLD, rd, rs1, (int32_t)double_offset);
    case 2: /* c.lw */
        return make_i(LW, rd, rs1, (int32_t)word_offset);
    case 3: /* c.ld */
        return make_i(LD, rd, rs1, (int32_t)double_offset);
    case 5: /* c.fsd */
        return make_s(FSD, rs1, rd, double_offset);
    case 6: /* c.sw */
        return make_s(SW, rs1, rd, word_offset);
    case 7: /* c.sd */
        return make_s(SD, rs1, rd, double_offset);
    default:
        return 0;
    }
}

/* c.srli, c.srai, c.andi, c.sub ... c.addw */
static uint32_t expand_arithmetic(uint32_t c) {
    static const uint32_t REGISTER_FORMS[8] = {SUB, XOR, OR, AND, SUBW, ADDW, 0, 0};
    unsigned rd = 8 + (c >> 7 & 7), rs2 = 8 + (c >> 2 & 7);
    uint32_t immediate = bits(c, 12, 1, 5) | bits(c, 2, 5, 0);
    switch (c >> 10 & 3) {
    case 0:
        return make_i(SRLI, rd, rd, (int32_t)immediate);
    case 1:
        return make_i((uint32_t)SRAI, rd, rd, (int32_t)immediate);
    case 2:
        return make_i(ANDI, rd, rd, sign_extend(immediate, 6));
    default: {
        uint32_t base = REGISTER_FORMS[bits(c, 12, 1, 2) | bits(c, 5, 2, 0)];
        return base == 0 ? 0 : make_r(base, rd, rd, rs2);
    }
    }
}

static uint32_t expand_quadrant1(uint32_t c) {
    unsigned rd = c >> 7 & 31, short_rs1 = 8 + (c >> 7 & 7);
    int32_t immediate = sign_extend(bits(c, 12, 1, 5) | bits(c, 2, 5, 0), 6);
    int32_t stack_step = sign_extend(bits(c, 12, 1, 9) | bits(c, 6, 1, 4) | bits(c, 5, 1, 6) |
                                         bits(c, 3, 2, 7) | bits(c, 2, 1, 5),
                                     10);
    int32_t jump =
        sign_extend(bits(c, 12, 1, 11) | bits(c, 11, 1, 4) | bits(c, 9, 2, 8) | bits(c, 8, 1, 10) |
                        bits(c, 7, 1, 6) | bits(c, 6, 1, 7) | bits(c, 3, 3, 1) | bits(c, 2, 1, 5),
                    12);
    int32_t branch = sign_extend(bits(c, 12, 1, 8) | bits(c, 10, 2, 3) | bits(c, 5, 2, 6) |
                                     bits(c, 3, 2, 1) | bits(c, 2, 1, 5),
                                 9);
    switch (c >> 13) {
    case 0: /* c.nop, c.addi */
        return make_i(ADDI, rd, rd, immediate);
    case 1: /* c.addiw */
        return rd == 0 ? 0 : make_i(ADDIW, rd, rd, immediate);
    case 2: /* c.li */
        return make_i(ADDI, rd, ZERO, immediate);
    case 3: /* c.addi16sp, c.lui */
        if (rd == SP)
            return stack_step == 0 ? 0 : make_i(ADDI, SP, SP, stack_step);
        return immediate == 0 ? 0 : LUI | (uint32_t)immediate << 12 | rd << 7;
    case 4:
        return expand_arithmetic(c);
    case 5: /* c.j */
        return make_j(ZERO, jump);
    case 6: /* c.beqz */
        return make_b(BEQ, short_rs1, branch);
    default: /* c.bnez */
        return make_b(BNE, short_rs1, branch);
    }
}

/* c.jr, c.mv, c.ebreak, c.jalr, c.add */
static uint32_t expand_jump_or_add(uint32_t c) {
    unsigned rd = c >> 7 & 31, rs2 = c >> 2 & 31;
    bool second = c >> 12 & 1;
    if (rs2 != 0)
        return second ? make_r(ADD, rd, rd, rs2) : make_i(ADDI, rd, rs2, 0);
    if (rd == 0)
        return second ? EBREAK : 0;
    return make_i(JALR, second ? RA : ZERO, rd, 0);
}

static uint32_t expand_quadrant2(uint32_t c) {
    unsigned rd = c >> 7 & 31, rs2 = c >> 2 & 31;
    uint32_t load_word = bits(c, 12, 1, 5) | bits(c, 4, 3, 2) | bits(c, 2, 2, 6);
    uint32_t load_double = bits(c, 12, 1, 5) | bits(c, 5, 2, 3) | bits(c, 2, 3, 6);
    uint32_t store_word = bits(c, 9, 4, 2) | bits(c, 7, 2, 6);
    uint32_t store_double = bits(c, 10, 3, 3) | bits(c, 7, 3, 6);
    switch (c >> 13) {
    case 0: /* c.slli */
        return make_i(SLLI, rd, rd, (int32_t)(bits(c, 12, 1, 5) | bits(c, 2, 5, 0)));
    case 1: /* c.fldsp */
        return make_i(FLD, rd, SP, (int32_t)load_double);
    case 2: /* c.lwsp */
        return rd == 0 ? 0 : make_i(LW, rd, SP, (int32_t)load_word);
    case 3: /* c.ldsp */
        return rd == 0 ? 0 : make_i(LD, rd, SP, (int32_t)load_double);
    case 4:
        return expand_jump_or_add(c);
    case 5: /* c.fsdsp */
        return make_s(FSD, SP, rs2, store_double);
    case 6: /* c.swsp */
        return make_s(SW, SP, rs2, store_word);
    default: /* c.sdsp */
        return make_s(SD, SP, rs2, store_double);
    }
}

uint32_t riscv64_expand(uint16_t compressed) {
    switch (compressed & 3) {
    case 0:
        return expand_quadrant0(compressed);
    case 1:
        return expand_quadrant1(compressed);
    case 2:
        return expand_quadrant2(compressed);
    default:
        return 0;
    }
}
