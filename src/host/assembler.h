/* A builder of x86-64 machine code: a growing buffer, instructions by Zydis' encoder, labels. The
 * code may run at any address.
 *
 *     struct assembler code = {0};
 *     struct label loop = assembler_here(&code);
 *     ASSEMBLE(&code, ADD, REG(RAX), REG(RBX));
 *     ASSEMBLE(&code, MOV, REG(RCX), MEMORY(R14, 8, 64));
 *     ASSEMBLE(&code, DEC, REG(R15));
 *     assembler_branch(&code, ZYDIS_MNEMONIC_JNZ, &loop);
 *     if (!assembler_finish(&code, &error)) ...
 *
 * The first mistake is kept, and what follows it is ignored: only assembler_finish() tells. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <Zydis/Zydis.h>

#include "util/error.h"

struct assembler {
    uint8_t *code; /* owned; freed by assembler_free() */
    size_t size, capacity;
    size_t pending; /* uses of labels that are not bound yet */
    bool failed;
    struct error error;
};

/* A place in the code. All zero: not bound yet; branches may name it before it is. At most
 * LABEL_USES of them. */
enum { LABEL_USES = 8 };
struct label {
    bool bound;
    size_t position;
    uint32_t use_count;
    size_t uses[LABEL_USES]; /* ends of their 32-bit displacements */
};

void assembler_free(struct assembler *code);
/* False: something could not be encoded, memory was out, or a label was used and never bound. */
bool assembler_finish(struct assembler *code, struct error *error);

/* One instruction. It may not be a branch. */
void assembler_put(struct assembler *code, ZydisMnemonic mnemonic,
                   const ZydisEncoderOperand *operands, unsigned count);
/* The same from a whole request, whose machine mode is filled in. */
void assembler_request(struct assembler *code, const ZydisEncoderRequest *request);
/* These bytes, so many times in a row. */
void assembler_bytes(struct assembler *code, const void *bytes, size_t size);
void assembler_repeat(struct assembler *code, const void *bytes, size_t size, size_t times);
/* Pads with no-ops to a multiple of `alignment` from the beginning of the code. */
void assembler_align(struct assembler *code, size_t alignment);
/* `count` no-ops of one byte. */
void assembler_nops(struct assembler *code, size_t count);

void assembler_bind(struct assembler *code, struct label *label);
static inline struct label assembler_here(const struct assembler *code) {
    return (struct label){.bound = true, .position = code->size};
}
/* jmp, call or a conditional jump, always with a displacement of 32 bits. */
void assembler_branch(struct assembler *code, ZydisMnemonic mnemonic, struct label *label);

#define ASSEMBLE(code, mnemonic, ...)                                                              \
    assembler_put(code, ZYDIS_MNEMONIC_##mnemonic, (const ZydisEncoderOperand[]){__VA_ARGS__},     \
                  sizeof((const ZydisEncoderOperand[]){__VA_ARGS__}) /                             \
                      sizeof(ZydisEncoderOperand))
/* Operands. A register by name or, below, by number (enum ZydisRegister_). */
#define REG(name)    operand_register(ZYDIS_REGISTER_##name)
#define IMMEDIATE(n) operand_immediate(n)
/* [base + displacement] of so many bits. */
#define MEMORY(base, displacement, bits)                                                           \
    operand_memory(ZYDIS_REGISTER_##base, ZYDIS_REGISTER_NONE, 0, displacement, bits)

static inline ZydisEncoderOperand operand_register(ZydisRegister reg) {
    return (ZydisEncoderOperand){.type = ZYDIS_OPERAND_TYPE_REGISTER, .reg.value = reg};
}
static inline ZydisEncoderOperand operand_immediate(int64_t value) {
    return (ZydisEncoderOperand){.type = ZYDIS_OPERAND_TYPE_IMMEDIATE, .imm.s = value};
}
/* [base + index × scale + displacement]; index ZYDIS_REGISTER_NONE: none. */
static inline ZydisEncoderOperand operand_memory(ZydisRegister base, ZydisRegister index,
                                                 unsigned scale, int64_t displacement,
                                                 unsigned bits) {
    return (ZydisEncoderOperand){.type = ZYDIS_OPERAND_TYPE_MEMORY,
                                 .mem = {.base = base,
                                         .index = index,
                                         .scale = (ZyanU8)scale,
                                         .displacement = displacement,
                                         .size = (ZyanU16)(bits / 8)}};
}
