/* An x86-64 instruction as Zydis sees it. Inside of this room. */
#pragma once

#include <Zydis/Zydis.h>
#include <stdbool.h>

struct zydis_view {
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
};

bool x86_64_view(const uint8_t *bytes, size_t size, struct zydis_view *view);

uint64_t x86_64_form(const struct zydis_view *view); /* insn_form */

/* In the numbers of insn.h; REG_NONE: none that carries dependences. */
uint8_t x86_64_register(ZydisRegister reg);
