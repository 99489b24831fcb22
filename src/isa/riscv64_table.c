/* Rows in the order of the ISA manual's listings (volume I, "RV32/64G Instruction Set Listings").
 * A word is looked up by walking the rows of its major opcode; decoding happens once per static
 * instruction, so the walk is short enough. */
#include "isa/riscv64_table.h"

#include "isa/insn.h"

enum {
    MASK_OPCODE = 0x7f,
    MASK_FUNCT3 = 0x707f,
    MASK_SHIFT = 0xfc00707f,
    MASK_R = 0xfe00707f,
    MASK_AMO = 0xf800707f, /* any aq, rl */
    MASK_LR = 0xf9f0707f,
    MASK_FP = 0xfe00007f,    /* any rounding mode */
    MASK_FP1 = 0xfff0007f,   /* rs2 is part of the opcode */
    MASK_FP_R = 0xfe00707f,  /* funct3 is part of the opcode */
    MASK_FP1_R = 0xfff0707f, /* both are */
    MASK_FP3 = 0x0600007f
};

#define OPCODE(op, name, format, work)                                                             \
    { MASK_OPCODE, op, name, FORMAT_##format, OP_##work }
#define FUNCT3(op, f3, name, format, work)                                                         \
    { MASK_FUNCT3, (f3) << 12 | (op), name, FORMAT_##format, OP_##work }
#define SHIFT(op, f3, f6, mask, name)                                                              \
    { mask, (uint32_t)(f6) << 26 | (f3) << 12 | (op), name, FORMAT_SHIFT, OP_INT_ALU }
#define REG(op, f7, f3, name, work)                                                                \
    { MASK_R, (uint32_t)(f7) << 25 | (f3) << 12 | (op), name, FORMAT_R, OP_##work }
#define WORD(word, name, format)                                                                   \
    { 0xffffffff, word, name, FORMAT_##format, OP_SYSTEM }
#define AMO(f5, name)                                                                              \
    {MASK_AMO, (uint32_t)(f5) << 27 | 2 << 12 | 0x2f, name ".w", FORMAT_AMO, OP_INT_ALU}, {        \
        MASK_AMO, (uint32_t)(f5) << 27 | 3 << 12 | 0x2f, name ".d", FORMAT_AMO, OP_INT_ALU         \
    }
/* For single and double precision: bits 26:25 are 0 and 1. */
#define FP(f7, name, format, work)                                                                 \
    {MASK_FP, (uint32_t)(f7) << 25 | 0x53, name ".s", FORMAT_##format, OP_##work}, {               \
        MASK_FP, (uint32_t)((f7) | 1) << 25 | 0x53, name ".d", FORMAT_##format, OP_##work          \
    }
#define FP_R(f7, f3, name, format)                                                                 \
    {MASK_FP_R, (uint32_t)(f7) << 25 | (f3) << 12 | 0x53, name ".s", FORMAT_##format, OP_FP_MISC}, \
    {                                                                                              \
        MASK_FP_R, (uint32_t)((f7) | 1) << 25 | (f3) << 12 | 0x53, name ".d", FORMAT_##format,     \
            OP_FP_MISC                                                                             \
    }
#define FP3(op, name)                                                                              \
    {MASK_FP3, op, name ".s", FORMAT_FP3_ROUND, OP_FP_FMA}, {                                      \
        MASK_FP3, 1 << 25 | (op), name ".d", FORMAT_FP3_ROUND, OP_FP_FMA                           \
    }
#define FP1(f7, rs2, name, format, work)                                                           \
    { MASK_FP1, (uint32_t)(f7) << 25 | (rs2) << 20 | 0x53, name, FORMAT_##format, OP_##work }
#define FP1_R(f7, rs2, f3, name, format)                                                           \
    {                                                                                              \
        MASK_FP1_R, (uint32_t)(f7) << 25 | (rs2) << 20 | (f3) << 12 | 0x53, name, FORMAT_##format, \
            OP_FP_MISC                                                                             \
    }

static const struct riscv64_row ROWS[] = {
    OPCODE(0x37, "lui", U, INT_ALU),
    OPCODE(0x17, "auipc", U, INT_ALU),
    OPCODE(0x6f, "jal", JAL, BRANCH),
    FUNCT3(0x67, 0, "jalr", JALR, BRANCH),
    FUNCT3(0x63, 0, "beq", BRANCH, BRANCH),
    FUNCT3(0x63, 1, "bne", BRANCH, BRANCH),
    FUNCT3(0x63, 4, "blt", BRANCH, BRANCH),
    FUNCT3(0x63, 5, "bge", BRANCH, BRANCH),
    FUNCT3(0x63, 6, "bltu", BRANCH, BRANCH),
    FUNCT3(0x63, 7, "bgeu", BRANCH, BRANCH),
    FUNCT3(0x03, 0, "lb", LOAD, LOAD),
    FUNCT3(0x03, 1, "lh", LOAD, LOAD),
    FUNCT3(0x03, 2, "lw", LOAD, LOAD),
    FUNCT3(0x03, 3, "ld", LOAD, LOAD),
    FUNCT3(0x03, 4, "lbu", LOAD, LOAD),
    FUNCT3(0x03, 5, "lhu", LOAD, LOAD),
    FUNCT3(0x03, 6, "lwu", LOAD, LOAD),
    FUNCT3(0x23, 0, "sb", STORE, STORE),
    FUNCT3(0x23, 1, "sh", STORE, STORE),
    FUNCT3(0x23, 2, "sw", STORE, STORE),
    FUNCT3(0x23, 3, "sd", STORE, STORE),
    FUNCT3(0x13, 0, "addi", I, INT_ALU),
    FUNCT3(0x13, 2, "slti", I, INT_ALU),
    FUNCT3(0x13, 3, "sltiu", I, INT_ALU),
    FUNCT3(0x13, 4, "xori", I, INT_ALU),
    FUNCT3(0x13, 6, "ori", I, INT_ALU),
    FUNCT3(0x13, 7, "andi", I, INT_ALU),
    SHIFT(0x13, 1, 0x00, MASK_SHIFT, "slli"),
    SHIFT(0x13, 5, 0x00, MASK_SHIFT, "srli"),
    SHIFT(0x13, 5, 0x10, MASK_SHIFT, "srai"),
    REG(0x33, 0x00, 0, "add", INT_ALU),
    REG(0x33, 0x20, 0, "sub", INT_ALU),
    REG(0x33, 0x00, 1, "sll", INT_ALU),
    REG(0x33, 0x00, 2, "slt", INT_ALU),
    REG(0x33, 0x00, 3, "sltu", INT_ALU),
    REG(0x33, 0x00, 4, "xor", INT_ALU),
    REG(0x33, 0x00, 5, "srl", INT_ALU),
    REG(0x33, 0x20, 5, "sra", INT_ALU),
    REG(0x33, 0x00, 6, "or", INT_ALU),
    REG(0x33, 0x00, 7, "and", INT_ALU),
    FUNCT3(0x1b, 0, "addiw", I, INT_ALU),
    SHIFT(0x1b, 1, 0x00, MASK_R, "slliw"),
    SHIFT(0x1b, 5, 0x00, MASK_R, "srliw"),
    SHIFT(0x1b, 5, 0x10, MASK_R, "sraiw"),
    REG(0x3b, 0x00, 0, "addw", INT_ALU),
    REG(0x3b, 0x20, 0, "subw", INT_ALU),
    REG(0x3b, 0x00, 1, "sllw", INT_ALU),
    REG(0x3b, 0x00, 5, "srlw", INT_ALU),
    REG(0x3b, 0x20, 5, "sraw", INT_ALU),
    FUNCT3(0x0f, 0, "fence", FENCE, SYSTEM),
    FUNCT3(0x0f, 1, "fence.i", NONE, SYSTEM),

    WORD(0x00000073, "ecall", NONE),
    WORD(0x00100073, "ebreak", NONE),
    WORD(0x10200073, "sret", NONE),
    WORD(0x30200073, "mret", NONE),
    WORD(0x7b200073, "dret", NONE),
    WORD(0x10500073, "wfi", NONE),
    {0xfe007fff, 0x12000073, "sfence.vma", FORMAT_SFENCE, OP_SYSTEM},
    FUNCT3(0x73, 1, "csrrw", CSR, SYSTEM),
    FUNCT3(0x73, 2, "csrrs", CSR, SYSTEM),
    FUNCT3(0x73, 3, "csrrc", CSR, SYSTEM),
    FUNCT3(0x73, 5, "csrrwi", CSR_IMM, SYSTEM),
    FUNCT3(0x73, 6, "csrrsi", CSR_IMM, SYSTEM),
    FUNCT3(0x73, 7, "csrrci", CSR_IMM, SYSTEM),

    REG(0x33, 0x01, 0, "mul", INT_MUL),
    REG(0x33, 0x01, 1, "mulh", INT_MUL),
    REG(0x33, 0x01, 2, "mulhsu", INT_MUL),
    REG(0x33, 0x01, 3, "mulhu", INT_MUL),
    REG(0x33, 0x01, 4, "div", INT_DIV),
    REG(0x33, 0x01, 5, "divu", INT_DIV),
    REG(0x33, 0x01, 6, "rem", INT_DIV),
    REG(0x33, 0x01, 7, "remu", INT_DIV),
    REG(0x3b, 0x01, 0, "mulw", INT_MUL),
    REG(0x3b, 0x01, 4, "divw", INT_DIV),
    REG(0x3b, 0x01, 5, "divuw", INT_DIV),
    REG(0x3b, 0x01, 6, "remw", INT_DIV),
    REG(0x3b, 0x01, 7, "remuw", INT_DIV),

    {MASK_LR, 0x1000202f, "lr.w", FORMAT_LR, OP_LOAD},
    {MASK_LR, 0x1000302f, "lr.d", FORMAT_LR, OP_LOAD},
    {MASK_AMO, 0x1800202f, "sc.w", FORMAT_AMO, OP_STORE},
    {MASK_AMO, 0x1800302f, "sc.d", FORMAT_AMO, OP_STORE},
    AMO(0x01, "amoswap"),
    AMO(0x00, "amoadd"),
    AMO(0x04, "amoxor"),
    AMO(0x0c, "amoand"),
    AMO(0x08, "amoor"),
    AMO(0x10, "amomin"),
    AMO(0x14, "amomax"),
    AMO(0x18, "amominu"),
    AMO(0x1c, "amomaxu"),

    FUNCT3(0x07, 2, "flw", FP_LOAD, LOAD),
    FUNCT3(0x07, 3, "fld", FP_LOAD, LOAD),
    FUNCT3(0x27, 2, "fsw", FP_STORE, STORE),
    FUNCT3(0x27, 3, "fsd", FP_STORE, STORE),
    FP3(0x43, "fmadd"),
    FP3(0x47, "fmsub"),
    FP3(0x4b, "fnmsub"),
    FP3(0x4f, "fnmadd"),
    FP(0x00, "fadd", FP2_ROUND, FP_ADD),
    FP(0x04, "fsub", FP2_ROUND, FP_ADD),
    FP(0x08, "fmul", FP2_ROUND, FP_MUL),
    FP(0x0c, "fdiv", FP2_ROUND, FP_DIV),
    FP1(0x2c, 0, "fsqrt.s", FP1_ROUND, FP_SQRT),
    FP1(0x2d, 0, "fsqrt.d", FP1_ROUND, FP_SQRT),
    FP_R(0x10, 0, "fsgnj", FP2),
    FP_R(0x10, 1, "fsgnjn", FP2),
    FP_R(0x10, 2, "fsgnjx", FP2),
    FP_R(0x14, 0, "fmin", FP2),
    FP_R(0x14, 1, "fmax", FP2),
    FP_R(0x50, 2, "feq", FP_COMPARE),
    FP_R(0x50, 1, "flt", FP_COMPARE),
    FP_R(0x50, 0, "fle", FP_COMPARE),
    FP1(0x20, 1, "fcvt.s.d", FP1_ROUND, FP_MISC),
    FP1(0x21, 0, "fcvt.d.s", FP1_ROUND, FP_MISC),
    FP1(0x60, 0, "fcvt.w.s", FP_TO_INT_ROUND, FP_MISC),
    FP1(0x60, 1, "fcvt.wu.s", FP_TO_INT_ROUND, FP_MISC),
    FP1(0x60, 2, "fcvt.l.s", FP_TO_INT_ROUND, FP_MISC),
    FP1(0x60, 3, "fcvt.lu.s", FP_TO_INT_ROUND, FP_MISC),
    FP1(0x61, 0, "fcvt.w.d", FP_TO_INT_ROUND, FP_MISC),
    FP1(0x61, 1, "fcvt.wu.d", FP_TO_INT_ROUND, FP_MISC),
    FP1(0x61, 2, "fcvt.l.d", FP_TO_INT_ROUND, FP_MISC),
    FP1(0x61, 3, "fcvt.lu.d", FP_TO_INT_ROUND, FP_MISC),
    FP1(0x68, 0, "fcvt.s.w", INT_TO_FP_ROUND, FP_MISC),
    FP1(0x68, 1, "fcvt.s.wu", INT_TO_FP_ROUND, FP_MISC),
    FP1(0x68, 2, "fcvt.s.l", INT_TO_FP_ROUND, FP_MISC),
    FP1(0x68, 3, "fcvt.s.lu", INT_TO_FP_ROUND, FP_MISC),
    FP1(0x69, 0, "fcvt.d.w", INT_TO_FP_ROUND, FP_MISC),
    FP1(0x69, 1, "fcvt.d.wu", INT_TO_FP_ROUND, FP_MISC),
    FP1(0x69, 2, "fcvt.d.l", INT_TO_FP_ROUND, FP_MISC),
    FP1(0x69, 3, "fcvt.d.lu", INT_TO_FP_ROUND, FP_MISC),
    FP1_R(0x70, 0, 0, "fmv.x.w", FP_TO_INT),
    FP1_R(0x71, 0, 0, "fmv.x.d", FP_TO_INT),
    FP1_R(0x70, 0, 1, "fclass.s", FP_TO_INT),
    FP1_R(0x71, 0, 1, "fclass.d", FP_TO_INT),
    FP1_R(0x78, 0, 0, "fmv.w.x", INT_TO_FP),
    FP1_R(0x79, 0, 0, "fmv.d.x", INT_TO_FP),
};

static bool has_rounding_mode(unsigned format) {
    return format == FORMAT_FP1_ROUND || format == FORMAT_FP2_ROUND || format == FORMAT_FP3_ROUND ||
           format == FORMAT_FP_TO_INT_ROUND || format == FORMAT_INT_TO_FP_ROUND;
}

bool riscv64_read(const uint8_t *bytes, size_t size, struct riscv64_word *out) {
    if (size < 2)
        return false;
    out->length = 2;
    out->word = (uint32_t)(bytes[0] | bytes[1] << 8);
    if ((out->word & 3) != 3) {
        out->word = riscv64_expand((uint16_t)out->word);
    } else {
        if (size < 4)
            return false;
        out->length = 4;
        out->word |= (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    }
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        if ((out->word & ROWS[i].mask) == ROWS[i].match) {
            out->row = &ROWS[i];
            unsigned mode = riscv64_funct3(out->word);
            return !(has_rounding_mode(ROWS[i].format) && (mode == 5 || mode == 6));
        }
    return false;
}
