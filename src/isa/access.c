#include "isa/access.h"

#include "isa/isa_internal.h"
#include "isa/riscv64_table.h"
#include "isa/x86_64_view.h"

enum {
    RISCV_LOAD = 0x03,
    RISCV_LOAD_FP = 0x07,
    RISCV_STORE = 0x23,
    RISCV_STORE_FP = 0x27,
    AMO = 0x2f
};

static bool accesses_memory(const ZydisDecodedOperand *operand) {
    return operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
           (operand->mem.type == ZYDIS_MEMOP_TYPE_MEM ||
            operand->mem.type == ZYDIS_MEMOP_TYPE_VSIB) &&
           operand->actions;
}

/* Named operands come before hidden ones; of those a string's before the stack. */
static const ZydisDecodedOperand *chosen(const struct zydis_view *view) {
    const ZydisDecodedOperand *hidden = NULL;
    for (unsigned i = 0; i < view->insn.operand_count; i++) {
        const ZydisDecodedOperand *operand = &view->operand[i];
        if (!accesses_memory(operand))
            continue;
        if (operand->visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN)
            return operand;
        if (!hidden)
            hidden = operand;
    }
    return hidden;
}

static bool x86_64_access(const uint8_t *bytes, size_t size, uint64_t address,
                          struct access_address *access) {
    struct zydis_view view;
    const ZydisDecodedOperand *operand = x86_64_view(bytes, size, &view) ? chosen(&view) : NULL;
    if (!operand)
        return false;
    const ZydisDecodedOperandMem *memory = &operand->mem;
    access->is_load = operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
    access->is_store = operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
    access->size_bytes = (uint16_t)(operand->size / 8);
    access->is_thread =
        memory->segment == ZYDIS_REGISTER_FS || memory->segment == ZYDIS_REGISTER_GS;
    access->is_stack = operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
                       x86_64_register(memory->base) == REG_X86_RSP;
    access->constant = memory->disp.value;
    if (memory->base == ZYDIS_REGISTER_RIP)
        access->constant = (int64_t)(address + view.insn.length + (uint64_t)memory->disp.value);
    else
        access->base = x86_64_register(memory->base);
    access->index = x86_64_register(memory->index);
    if (access->index != REG_NONE && memory->scale)
        access->shift = (uint8_t)__builtin_ctz(memory->scale);
    return true;
}

static bool riscv64_access(const uint8_t *bytes, size_t size, struct access_address *access) {
    struct riscv64_word in;
    if (!riscv64_read(bytes, size, &in))
        return false;
    const unsigned opcode = in.word & 0x7f, base = riscv64_rs1(in.word);
    access->is_load = opcode == RISCV_LOAD || opcode == RISCV_LOAD_FP || opcode == AMO;
    access->is_store = opcode == RISCV_STORE || opcode == RISCV_STORE_FP || opcode == AMO;
    if (!access->is_load && !access->is_store)
        return false;
    access->base = base ? (uint8_t)base : REG_NONE;
    access->size_bytes = (uint16_t)(1 << (riscv64_funct3(in.word) & 3));
    if (opcode != AMO)
        access->constant = access->is_load ? riscv64_imm_i(in.word) : riscv64_imm_s(in.word);
    return true;
}

bool insn_access_address(enum isa isa, const uint8_t *bytes, size_t size, uint64_t address,
                         struct access_address *access) {
    *access = (struct access_address){.base = REG_NONE, .index = REG_NONE};
    return isa == ISA_X86_64 ? x86_64_access(bytes, size, address, access)
                             : isa == ISA_RISCV64 && riscv64_access(bytes, size, access);
}

static bool is_register(const ZydisDecodedOperand *operand) {
    return operand->type == ZYDIS_OPERAND_TYPE_REGISTER && operand->size >= 32 &&
           x86_64_register(operand->reg.value) < REG_X86_CF;
}

bool insn_product(enum isa isa, const uint8_t *bytes, size_t size, struct product *product) {
    struct zydis_view view;
    if (isa != ISA_X86_64 || !x86_64_view(bytes, size, &view) ||
        view.insn.mnemonic != ZYDIS_MNEMONIC_IMUL || view.insn.operand_count_visible != 3 ||
        !is_register(&view.operand[0]))
        return false;
    *product = (struct product){.to = x86_64_register(view.operand[0].reg.value),
                                .factor = view.operand[2].imm.value.s};
    return true;
}

bool insn_conditional_move(enum isa isa, const uint8_t *bytes, size_t size,
                           struct conditional_move *move) {
    struct zydis_view view;
    if (isa != ISA_X86_64 || !x86_64_view(bytes, size, &view) ||
        view.insn.meta.category != ZYDIS_CATEGORY_CMOV || !is_register(&view.operand[0]))
        return false;
    *move = (struct conditional_move){.to = x86_64_register(view.operand[0].reg.value),
                                      .from = is_register(&view.operand[1])
                                                  ? x86_64_register(view.operand[1].reg.value)
                                                  : REG_NONE};
    return true;
}
