/* Inside of the calibrate room: an instruction of a given form with chosen registers, for chains of
 * them and for copies that do not wait for each other. */
#pragma once

#include "host/assembler.h"
#include "isa/form_parts.h"

/* Registers by their numbers (0 to 15) within the kind of each operand of the form. */
struct form_choice {
    uint8_t operand[FORM_OPERANDS];
    uint8_t base, index; /* of an operand in memory or an address: general registers; of a vector of
                            addresses `index` is a vector register */
    int32_t displacement;
};

/* An operand of the form as the instruction uses it. */
struct form_use {
    uint8_t kind; /* enum form_kind */
    bool reads, writes;
};

enum form_flag_use { FORM_READS_FLAGS = 1, FORM_WRITES_FLAGS = 2, FORM_WRITES_ALL_FLAGS = 4 };

/* What an instruction of the form does, as its encoding says. */
struct form_uses {
    struct form_use operands[FORM_OPERANDS];
    unsigned count;
    unsigned flags;         /* enum form_flag_use */
    uint16_t reads, writes; /* general registers that it always reads and writes, unnamed; bits */
    bool hidden_memory, legacy; /* accesses memory unnamed; a legacy SSE instruction */
    bool zero_flag;             /* it writes ZF; else of the flags at least CF */
};

/* Why a form is not measured. */
enum form_reason {
    FORM_MEASURABLE,
    FORM_NOT_ENCODED, /* the encoder does not make it */
    FORM_BRANCHES,
    FORM_SYSTEM,          /* privileged, serialising, a system call, a trap, state of the system */
    FORM_REPEATS,         /* string instructions: they move their addresses */
    FORM_OTHER_REGISTERS, /* x87 and MMX stacks, segments, tiles: need a state kept up */
    FORM_GATHERS,         /* uses its mask up */
    FORM_REASONS
};
const char *form_reason_text(enum form_reason reason);

/* What can be said without running it; fills in *uses if it is measurable. */
enum form_reason form_examine(insn_form form, struct form_uses *uses);

/* Puts the instruction with these registers into the code. */
void form_put(struct assembler *code, insn_form form, const struct form_choice *choice);

/* Register `number` of a kind; ZYDIS_REGISTER_NONE: of a kind that is no register. */
ZydisRegister form_register(unsigned kind, unsigned number);
bool form_kind_is_general(unsigned kind);
bool form_kind_is_vector(unsigned kind);
bool form_kind_is_memory(unsigned kind);
unsigned form_kind_bits(unsigned kind); /* of an operand in memory; 0: of another one */
