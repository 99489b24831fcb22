/* The ISA-neutral part of the room: dispatch to the decoder and printer of each ISA, names of
 * operation classes, and the order of source registers (data first, then addresses), on which
 * insn_crack relies to tell what a µop needs. */
#include "isa/insn.h"

#include <stdio.h>
#include <string.h>

#include "isa/isa_internal.h"

static const char *const OPERATION_NAMES[OP_COUNT] = {
    [OP_NOP] = "nop",         [OP_INT_ALU] = "int_alu",   [OP_INT_MUL] = "int_mul",
    [OP_INT_DIV] = "int_div", [OP_BRANCH] = "branch",     [OP_FP_ADD] = "fp_add",
    [OP_FP_MUL] = "fp_mul",   [OP_FP_FMA] = "fp_fma",     [OP_FP_DIV] = "fp_div",
    [OP_FP_SQRT] = "fp_sqrt", [OP_FP_MISC] = "fp_misc",   [OP_VEC_ALU] = "vec_alu",
    [OP_VEC_MUL] = "vec_mul", [OP_VEC_PERM] = "vec_perm", [OP_CRYPTO] = "crypto",
    [OP_LOAD] = "load",       [OP_STORE] = "store",       [OP_SYSTEM] = "system",
    [OP_CLOCK] = "clock",
};

const char *operation_name(enum operation operation) {
    return (unsigned)operation < OP_COUNT ? OPERATION_NAMES[operation] : "unknown";
}

void insn_add_address_sources(struct insn *insn) {
    for (unsigned i = 0; i < insn->source_count; i++) {
        if (!insn_addresses_by(insn, insn->source[i]))
            continue;
        uint8_t shared = insn->source[i];
        insn->source[i] = insn->source[0];
        insn->source[0] = shared;
        insn->flags |= INSN_ADDRESS_IS_DATA;
        break;
    }
    for (unsigned i = 0; i < insn->memory_count; i++) {
        insn_add_source(insn, insn->memory[i].base);
        insn_add_source(insn, insn->memory[i].index);
    }
}

bool insn_decode(enum isa isa, const uint8_t *bytes, size_t size, struct insn *insn) {
    struct insn decoded = {.isa = isa};
    bool ok = isa == ISA_X86_64    ? x86_64_decode(bytes, size, &decoded)
              : isa == ISA_RISCV64 ? riscv64_decode(bytes, size, &decoded)
                                   : false;
    if (ok)
        *insn = decoded;
    return ok;
}

size_t insn_text(enum isa isa, const uint8_t *bytes, size_t size, uint64_t address, char *text,
                 size_t text_size) {
    char line[256];
    size_t length = isa == ISA_X86_64    ? x86_64_text(bytes, size, address, line, sizeof line)
                    : isa == ISA_RISCV64 ? riscv64_text(bytes, size, address, line, sizeof line)
                                         : 0;
    if (length == 0) {
        length = (size_t)snprintf(line, sizeof line, ".byte");
        for (size_t i = 0; i < size && i < INSN_MAX_LENGTH; i++)
            length += (size_t)snprintf(line + length, sizeof line - length, "%s 0x%02x",
                                       i == 0 ? "" : ",", bytes[i]);
    }
    if (text_size > 0) {
        size_t kept = length < text_size ? length : text_size - 1;
        memcpy(text, line, kept);
        text[kept] = '\0';
    }
    return length;
}
