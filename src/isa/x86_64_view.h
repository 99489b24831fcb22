/* An x86-64 instruction as Zydis sees it. Inside of this room. */
#ifndef CULPRIT_ISA_X86_64_VIEW_H
#define CULPRIT_ISA_X86_64_VIEW_H

#include <Zydis/Zydis.h>
#include <stdbool.h>

struct zydis_view {
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
};

bool x86_64_view(const uint8_t *bytes, size_t size, struct zydis_view *view);

/* In the numbers of insn.h; REG_NONE: none that carries dependences. */
uint8_t x86_64_register(ZydisRegister reg);

#endif
