/* What instruction forms are made of: for rooms that make instructions of a form. The words of the
 * kinds are in form.h. */
#pragma once

#include "isa/form.h"

/* Kinds of operands. */
enum form_kind {
    FORM_NO_OPERAND,
    FORM_R8,
    FORM_R16,
    FORM_R32,
    FORM_R64,
    FORM_MM,
    FORM_XMM,
    FORM_YMM,
    FORM_ZMM,
    FORM_K,
    FORM_ST,
    FORM_TMM,
    FORM_BND,
    FORM_SR,
    FORM_CR,
    FORM_DR,
    FORM_I8,
    FORM_I16,
    FORM_I32,
    FORM_I64,
    FORM_ONE,
    FORM_CL,
    FORM_REL,
    FORM_M,
    FORM_M8,
    FORM_M16,
    FORM_M32,
    FORM_M64,
    FORM_M80,
    FORM_M128,
    FORM_M256,
    FORM_M512,
    FORM_M16_BROADCAST,
    FORM_M32_BROADCAST,
    FORM_M64_BROADCAST,
    FORM_VMX,
    FORM_VMY,
    FORM_VMZ,
    FORM_ADDRESS, /* with its parts, enum form_address_part, added */
    FORM_COUNT = FORM_ADDRESS + 16
};
/* Parts of an address; a scale above 1 is one. */
enum form_address_part {
    FORM_PART_DISPLACEMENT = 1,
    FORM_PART_BASE = 2,
    FORM_PART_INDEX = 4,
    FORM_PART_SCALE = 8
};
enum form_prefix {
    FORM_PREFIX_NONE,
    FORM_PREFIX_LOCK,
    FORM_PREFIX_REP,
    FORM_PREFIX_REPNE,
    FORM_PREFIX_COUNT
};
enum form_mask { FORM_MASK_NONE, FORM_MASK_MERGING, FORM_MASK_ZEROING, FORM_MASK_COUNT };

/* What a form is made of. */
struct form_parts {
    uint16_t mnemonic; /* as Zydis numbers them */
    uint8_t operand_count;
    uint8_t operands[FORM_OPERANDS]; /* enum form_kind; FORM_ADDRESS and parts for an address */
    uint8_t prefix, mask;
};
struct form_parts form_parts(insn_form form);
