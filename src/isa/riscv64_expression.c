/* Expressions of RV64GC, from the word of each instruction (compressed ones expanded). x0 reads as
 * 0, for which REG_NONE stands, and what is written to it is lost. */
#include "isa/isa_internal.h"
#include "isa/riscv64_table.h"

/* Words by opcode, funct3 and, where it matters, funct7. */
enum {
    LUI = 0x37,
    AUIPC = 0x17,
    JALR = 0x67,
    BRANCH = 0x63,
    LOAD = 0x03,
    OP_IMM = 0x13,
    OP_IMM_32 = 0x1b,
    OP = 0x33,
    OP_32 = 0x3b,
    ADD = 0,
    SLL = 1,
    SRL = 5,
    AND = 7,
    BLTU = 6,
    BGEU = 7,
    LOAD_UNSIGNED = 4
};

static uint8_t integer_register(unsigned number) {
    return number == 0 ? REG_NONE : (uint8_t)number;
}

static int64_t upper_immediate(uint32_t word) {
    return (int32_t)(word & 0xfffff000);
}

static void set_immediate(uint32_t word, struct expression *expression) {
    unsigned shift = word >> 20 & 63;
    expression->base = integer_register(riscv64_rs1(word));
    switch (riscv64_funct3(word)) {
    case ADD:
        expression->kind = EXPRESSION_SUM;
        expression->constant = riscv64_imm_i(word);
        break;
    case AND:
        expression->kind = EXPRESSION_AND;
        expression->constant = riscv64_imm_i(word);
        break;
    case SLL:
        expression->kind = EXPRESSION_SUM;
        expression->index = expression->base;
        expression->base = REG_NONE;
        expression->shift = (uint8_t)shift;
        break;
    case SRL:
        expression->kind = word >> 26 == 0 ? EXPRESSION_SHIFT_RIGHT : EXPRESSION_NONE;
        expression->shift = (uint8_t)shift;
        break;
    default:
        break;
    }
}

static void set_word_immediate(uint32_t word, struct expression *expression) {
    if (riscv64_funct3(word) != ADD)
        return;
    expression->kind = EXPRESSION_SUM;
    expression->base = integer_register(riscv64_rs1(word));
    expression->constant = riscv64_imm_i(word);
    expression->width = 4;
    expression->is_signed = true;
}

static void set_add(uint32_t word, bool narrow, struct expression *expression) {
    if (riscv64_funct3(word) != ADD || word >> 25 != 0)
        return;
    expression->kind = EXPRESSION_SUM;
    expression->base = integer_register(riscv64_rs1(word));
    expression->index = integer_register(riscv64_rs2(word));
    expression->width = narrow ? 4 : 8;
    expression->is_signed = narrow;
}

static void set_branch(uint32_t word, struct expression *expression) {
    unsigned condition = riscv64_funct3(word);
    expression->kind = EXPRESSION_BRANCH;
    expression->to = REG_NONE;
    expression->base = integer_register(riscv64_rs1(word));
    expression->right = integer_register(riscv64_rs2(word));
    expression->condition = condition == BLTU   ? CONDITION_BELOW
                            : condition == BGEU ? CONDITION_ABOVE_EQUAL
                                                : CONDITION_OTHER;
}

void riscv64_expression(const uint8_t *bytes, size_t size, uint64_t address,
                        struct expression *expression) {
    struct riscv64_word in;
    if (!riscv64_read(bytes, size, &in))
        return;
    uint32_t word = in.word;
    expression->to = integer_register(riscv64_rd(word));
    switch (word & 0x7f) {
    case LUI:
        expression->kind = EXPRESSION_SUM;
        expression->constant = upper_immediate(word);
        break;
    case AUIPC:
        expression->kind = EXPRESSION_SUM;
        expression->constant = (int64_t)(address + (uint64_t)upper_immediate(word));
        break;
    case JALR:
        expression->kind = EXPRESSION_JUMP;
        expression->base = integer_register(riscv64_rs1(word));
        expression->constant = riscv64_imm_i(word);
        break;
    case BRANCH:
        set_branch(word, expression);
        break;
    case LOAD:
        expression->kind = EXPRESSION_LOAD;
        expression->base = integer_register(riscv64_rs1(word));
        expression->constant = riscv64_imm_i(word);
        expression->width = (uint8_t)(1 << (riscv64_funct3(word) & 3));
        expression->is_signed = !(riscv64_funct3(word) & LOAD_UNSIGNED);
        break;
    case OP_IMM:
        set_immediate(word, expression);
        break;
    case OP_IMM_32:
        set_word_immediate(word, expression);
        break;
    case OP:
    case OP_32:
        set_add(word, (word & 0x7f) == OP_32, expression);
        break;
    default:
        break;
    }
    if (expression->kind == EXPRESSION_NONE)
        expression->to = REG_NONE;
}
