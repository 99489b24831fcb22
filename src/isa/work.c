#include "isa/work.h"

#include "isa/x86_64_view.h"

/* Elements of its widest vector; one where the last source, which has the width of what is computed
 * unless it is broadcast, has one. */
static uint32_t lanes_of(enum isa isa, const uint8_t *bytes, size_t size) {
    struct zydis_view view;
    uint32_t widest = 1, last = 1;
    if (isa != ISA_X86_64 || !x86_64_view(bytes, size, &view))
        return 1;
    for (unsigned i = 0; i < view.insn.operand_count_visible; i++) {
        const ZydisDecodedOperand *operand = &view.operand[i];
        const uint8_t number = operand->type == ZYDIS_OPERAND_TYPE_REGISTER
                                   ? x86_64_register(operand->reg.value)
                                   : REG_NONE;
        const bool vector = register_is_fp(number) && number < REG_X86_MASK;
        if (vector && operand->element_count > widest)
            widest = operand->element_count;
        if (vector || operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
            last = operand->element_count;
    }
    return last == 1 && !view.insn.avx.broadcast.mode ? 1 : widest;
}

static void add_uop(struct insn_work *work, const struct insn *insn, const struct uop *uop,
                    uint32_t lanes) {
    switch ((enum operation)uop->operation) {
    case OP_FP_ADD:
    case OP_FP_MUL:
    case OP_FP_DIV:
    case OP_FP_SQRT:
        work->fp += lanes;
        break;
    case OP_FP_FMA:
        work->fp += 2 * lanes;
        break;
    case OP_INT_ALU:
        work->integer += !(insn->flags & (INSN_MOVE | INSN_ZERO));
        break;
    case OP_INT_MUL:
    case OP_INT_DIV:
        work->integer++;
        break;
    case OP_VEC_ALU:
    case OP_VEC_MUL:
        work->integer += insn->flags & (INSN_MOVE | INSN_ZERO) ? 0 : lanes;
        break;
    default:
        break;
    }
}

bool insn_work_of(enum isa isa, const uint8_t *bytes, size_t size, struct insn_work *work) {
    struct insn insn;
    struct uop uops[INSN_MAX_UOPS];
    *work = (struct insn_work){0};
    if (!insn_decode(isa, bytes, size, &insn))
        return false;
    const uint32_t lanes = lanes_of(isa, bytes, size);
    const int count = insn_crack(&insn, uops);
    for (int i = 0; i < count; i++)
        add_uop(work, &insn, &uops[i], lanes);
    work->lanes = work->fp || work->integer ? lanes : 0;
    for (unsigned i = 0; i < insn.memory_count && !(insn.flags & INSN_PREFETCH); i++) {
        work->loaded += insn.memory[i].is_load ? insn.memory[i].size_bytes : 0;
        work->stored += insn.memory[i].is_store ? insn.memory[i].size_bytes : 0;
    }
    return true;
}
