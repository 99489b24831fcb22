#include "core/elimination.h"

enum elimination eliminates(const struct machine_core *machine, const struct static_insn *insn,
                            const struct uop *uop) {
    if (uop->operation == OP_NOP)
        return NOTHING_TO_DO;
    if (insn->uop_count != 1 || (uop->operation != OP_INT_ALU && uop->operation != OP_VEC_ALU))
        return NOT_ELIMINATED;
    if (machine->eliminate_additions && insn->adds_constant)
        return OTHER_NAME;
    if (!machine->eliminate_moves)
        return NOT_ELIMINATED;
    if (insn->flags & INSN_MOVE && uop->source_count == 1 && uop->destination_count == 1)
        return OTHER_NAME;
    return insn->flags & INSN_ZERO ? NOTHING_TO_DO : NOT_ELIMINATED;
}
