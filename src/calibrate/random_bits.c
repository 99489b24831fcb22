#include "calibrate/random_bits.h"

#include <stdlib.h>

#include "util/random.h"

enum { CURSOR = 0 };

uint8_t *random_bits(size_t count) {
    uint8_t *bits = malloc(count);
    uint64_t state = 1;
    for (size_t i = 0; bits && i < count; i++)
        bits[i] = random_next(&state) & 1;
    return bits;
}

void walk_begin(struct assembler *code) {
    ASSEMBLE(code, MOV, REG(R12), MEMORY(R14, CURSOR, 64));
}

void walk_step(struct assembler *code, ZydisRegister to, size_t count) {
    const ZydisEncoderOperand load[] = {
        operand_register(to),
        operand_memory(ZYDIS_REGISTER_R14, ZYDIS_REGISTER_R12, 1, WALK_TABLE, 8)};
    ASSEMBLE(code, INC, REG(R12));
    ASSEMBLE(code, AND, REG(R12D), IMMEDIATE((int64_t)count - 1));
    assembler_put(code, ZYDIS_MNEMONIC_MOVZX, load, 2);
}

void walk_end(struct assembler *code) {
    ASSEMBLE(code, MOV, MEMORY(R14, CURSOR, 64), REG(R12));
}
