/* What kind of work an x86-64 mnemonic does. Inside of this room. */
#pragma once

#include <Zydis/Zydis.h>

#include "isa/insn.h"

enum x86_64_trait {
    TRAIT_MOVE = 1 << 0,             /* register copy when both operands are registers */
    TRAIT_ZERO_IDIOM = 1 << 1,       /* result zero when both inputs are the same register */
    TRAIT_ONES_IDIOM = 1 << 2,       /* constant, not zero, when both inputs are the same */
    TRAIT_SAVES_STATE = 1 << 3,      /* memory operand of a size known only to the processor */
    TRAIT_READS_FP_CONTROL = 1 << 4, /* MXCSR, x87 control or status word */
    TRAIT_WRITES_FP_CONTROL = 1 << 5
};

/* Bits of enum x86_64_trait. */
unsigned x86_64_traits(ZydisMnemonic mnemonic);

/* Bits of enum insn_flags that follow from the mnemonic alone. */
uint16_t x86_64_flags(ZydisMnemonic mnemonic);

/* Class of the main work; `insn` has its branch, flags and memory operands filled in. */
enum operation x86_64_operation(const ZydisDecodedInstruction *zydis, const struct insn *insn);
