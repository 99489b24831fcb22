/* Expressions of x86-64, from the operands that Zydis lists. Writes to 8 and 16 bits of a register,
 * and accesses through a segment register, are not simple. */
#include "isa/isa_internal.h"
#include "isa/x86_64_view.h"

enum { RAX = 0, RSP = 4, RBP = 5 };

static bool is_register(const ZydisDecodedOperand *operand) {
    return operand->type == ZYDIS_OPERAND_TYPE_REGISTER;
}

static bool is_immediate(const ZydisDecodedOperand *operand) {
    return operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

static bool is_memory(const ZydisDecodedOperand *operand) {
    return operand->type == ZYDIS_OPERAND_TYPE_MEMORY;
}

/* A general register from its lowest bit on: not ah. */
static bool is_general(const ZydisDecodedOperand *operand) {
    if (!is_register(operand))
        return false;
    switch (ZydisRegisterGetClass(operand->reg.value)) {
    case ZYDIS_REGCLASS_GPR8:
        return operand->reg.value < ZYDIS_REGISTER_AH || operand->reg.value > ZYDIS_REGISTER_BH;
    case ZYDIS_REGCLASS_GPR16:
    case ZYDIS_REGCLASS_GPR32:
    case ZYDIS_REGCLASS_GPR64:
        return true;
    default:
        return false;
    }
}

/* A whole general register; a write to its low 32 bits clears the others. */
static bool is_whole(const ZydisDecodedOperand *operand) {
    return is_general(operand) && operand->size >= 32;
}

/* False: the address is not simple. */
static bool set_address(const struct zydis_view *view, const ZydisDecodedOperand *operand,
                        uint64_t address, struct expression *expression) {
    const ZydisDecodedOperandMem *memory = &operand->mem;
    if ((memory->type != ZYDIS_MEMOP_TYPE_MEM && memory->type != ZYDIS_MEMOP_TYPE_AGEN) ||
        memory->segment == ZYDIS_REGISTER_FS || memory->segment == ZYDIS_REGISTER_GS ||
        view->insn.address_width != 64)
        return false;
    expression->constant = memory->disp.value;
    if (memory->base == ZYDIS_REGISTER_RIP)
        expression->constant =
            (int64_t)(address + view->insn.length + (uint64_t)memory->disp.value);
    else
        expression->base = x86_64_register(memory->base);
    expression->index = x86_64_register(memory->index);
    if (expression->index != REG_NONE)
        expression->shift = (uint8_t)__builtin_ctz(memory->scale);
    return true;
}

static void set_result(const ZydisDecodedOperand *to, enum expression_kind kind,
                       struct expression *expression) {
    expression->kind = (uint8_t)kind;
    expression->to = x86_64_register(to->reg.value);
    expression->width = (uint8_t)(to->size / 8);
}

/* mov, movzx, movsx, movsxd into a whole register. */
static void set_move(const struct zydis_view *view, uint64_t address,
                     struct expression *expression) {
    const ZydisDecodedOperand *to = &view->operand[0], *from = &view->operand[1];
    bool sign =
        view->insn.mnemonic == ZYDIS_MNEMONIC_MOVSX || view->insn.mnemonic == ZYDIS_MNEMONIC_MOVSXD;
    if (!is_whole(to) || (sign && to->size != 64))
        return;
    if (is_immediate(from)) {
        set_result(to, EXPRESSION_SUM, expression);
        expression->constant = from->imm.value.s;
    } else if (is_general(from)) {
        set_result(to, EXPRESSION_SUM, expression);
        expression->base = x86_64_register(from->reg.value);
    } else if (is_memory(from) && set_address(view, from, address, expression)) {
        set_result(to, EXPRESSION_LOAD, expression);
    } else {
        return;
    }
    expression->is_signed = sign;
    if (!is_immediate(from))
        expression->width = (uint8_t)(from->size / 8);
}

/* cdqe: rax from eax. */
static void set_widening(struct expression *expression) {
    expression->kind = EXPRESSION_SUM;
    expression->to = expression->base = RAX;
    expression->width = 4;
    expression->is_signed = true;
}

/* add, sub, inc, dec of a whole register. */
static void set_sum(const struct zydis_view *view, struct expression *expression) {
    const ZydisDecodedOperand *to = &view->operand[0], *by = &view->operand[1];
    ZydisMnemonic mnemonic = view->insn.mnemonic;
    bool step = mnemonic == ZYDIS_MNEMONIC_INC || mnemonic == ZYDIS_MNEMONIC_DEC;
    if (!is_whole(to) ||
        (!step && !is_immediate(by) && !(is_general(by) && mnemonic == ZYDIS_MNEMONIC_ADD)))
        return;
    set_result(to, EXPRESSION_SUM, expression);
    expression->base = expression->to;
    int64_t constant = step ? 1 : is_immediate(by) ? by->imm.value.s : 0;
    bool less = mnemonic == ZYDIS_MNEMONIC_SUB || mnemonic == ZYDIS_MNEMONIC_DEC;
    expression->constant = less ? (int64_t)(0 - (uint64_t)constant) : constant;
    if (!step && is_general(by))
        expression->index = x86_64_register(by->reg.value);
}

static void set_lea(const struct zydis_view *view, uint64_t address,
                    struct expression *expression) {
    if (is_whole(&view->operand[0]) && set_address(view, &view->operand[1], address, expression))
        set_result(&view->operand[0], EXPRESSION_SUM, expression);
}

static void set_and(const struct zydis_view *view, struct expression *expression) {
    if (!is_whole(&view->operand[0]) || !is_immediate(&view->operand[1]))
        return;
    set_result(&view->operand[0], EXPRESSION_AND, expression);
    expression->base = expression->to;
    expression->constant = view->operand[1].imm.value.s;
}

/* shl and shr by a constant. */
static void set_shift(const struct zydis_view *view, struct expression *expression) {
    const ZydisDecodedOperand *to = &view->operand[0], *by = &view->operand[1];
    if (!is_whole(to) || !is_immediate(by))
        return;
    bool right = view->insn.mnemonic == ZYDIS_MNEMONIC_SHR;
    set_result(to, right ? EXPRESSION_SHIFT_RIGHT : EXPRESSION_SUM, expression);
    expression->shift = by->imm.value.u & (to->size - 1u);
    if (right)
        expression->base = expression->to;
    else
        expression->index = expression->to;
}

/* xor of a register with itself. */
static void set_zero(const struct zydis_view *view, struct expression *expression) {
    if (is_whole(&view->operand[0]) && is_register(&view->operand[1]) &&
        view->operand[0].reg.value == view->operand[1].reg.value)
        set_result(&view->operand[0], EXPRESSION_SUM, expression);
}

static void set_compare(const struct zydis_view *view, uint64_t address,
                        struct expression *expression) {
    const ZydisDecodedOperand *left = &view->operand[0], *right = &view->operand[1];
    if (is_immediate(right))
        expression->limit = right->imm.value.s;
    else if (is_general(right))
        expression->right = x86_64_register(right->reg.value);
    else
        return;
    if (is_general(left)) {
        expression->kind = EXPRESSION_COMPARE;
        expression->base = x86_64_register(left->reg.value);
    } else if (is_memory(left) && set_address(view, left, address, expression)) {
        expression->kind = EXPRESSION_COMPARE_LOADED;
    }
    expression->width = (uint8_t)(left->size / 8);
}

static void set_jump(const struct zydis_view *view, uint64_t address,
                     struct expression *expression) {
    const ZydisDecodedOperand *target = &view->operand[0];
    if (view->insn.operand_count_visible == 0) {
        return;
    } else if (is_general(target)) {
        expression->kind = EXPRESSION_JUMP;
        expression->base = x86_64_register(target->reg.value);
    } else if (is_memory(target) && target->size == 64 &&
               set_address(view, target, address, expression)) {
        expression->kind = EXPRESSION_JUMP_LOADED;
    }
}

static void set_condition(enum condition condition, struct expression *expression) {
    expression->kind = EXPRESSION_BRANCH;
    expression->condition = (uint8_t)condition;
}

static void set_stack(const struct zydis_view *view, struct expression *expression) {
    const ZydisDecodedOperand *operand = &view->operand[0];
    int16_t bytes = (int16_t)(view->insn.operand_width / 8);
    switch (view->insn.mnemonic) {
    case ZYDIS_MNEMONIC_PUSH:
        expression->stack_step = (int16_t)-bytes;
        break;
    case ZYDIS_MNEMONIC_POP:
        if (is_general(operand) && x86_64_register(operand->reg.value) == RSP)
            break;
        expression->stack_step = bytes;
        if (!is_whole(operand))
            break;
        set_result(operand, EXPRESSION_LOAD, expression);
        expression->base = RSP;
        break;
    default: /* leave */
        expression->kind = EXPRESSION_SUM;
        expression->to = RSP;
        expression->base = RBP;
        expression->constant = bytes;
    }
}

void x86_64_expression(const uint8_t *bytes, size_t size, uint64_t address,
                       struct expression *expression) {
    struct zydis_view view;
    if (!x86_64_view(bytes, size, &view))
        return;
    switch (view.insn.mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_MOVZX:
    case ZYDIS_MNEMONIC_MOVSX:
    case ZYDIS_MNEMONIC_MOVSXD:
        set_move(&view, address, expression);
        break;
    case ZYDIS_MNEMONIC_CDQE:
        set_widening(expression);
        break;
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_INC:
    case ZYDIS_MNEMONIC_DEC:
        set_sum(&view, expression);
        break;
    case ZYDIS_MNEMONIC_LEA:
        set_lea(&view, address, expression);
        break;
    case ZYDIS_MNEMONIC_AND:
        set_and(&view, expression);
        break;
    case ZYDIS_MNEMONIC_SHL:
    case ZYDIS_MNEMONIC_SHR:
        set_shift(&view, expression);
        break;
    case ZYDIS_MNEMONIC_XOR:
        set_zero(&view, expression);
        break;
    case ZYDIS_MNEMONIC_CMP:
        set_compare(&view, address, expression);
        break;
    case ZYDIS_MNEMONIC_JMP:
    case ZYDIS_MNEMONIC_CALL:
        set_jump(&view, address, expression);
        break;
    case ZYDIS_MNEMONIC_JB:
        set_condition(CONDITION_BELOW, expression);
        break;
    case ZYDIS_MNEMONIC_JBE:
        set_condition(CONDITION_BELOW_EQUAL, expression);
        break;
    case ZYDIS_MNEMONIC_JNBE:
        set_condition(CONDITION_ABOVE, expression);
        break;
    case ZYDIS_MNEMONIC_JNB:
        set_condition(CONDITION_ABOVE_EQUAL, expression);
        break;
    case ZYDIS_MNEMONIC_PUSH:
    case ZYDIS_MNEMONIC_POP:
    case ZYDIS_MNEMONIC_LEAVE:
        set_stack(&view, expression);
        break;
    default:
        if (view.insn.meta.category == ZYDIS_CATEGORY_COND_BR)
            set_condition(CONDITION_OTHER, expression);
    }
}
