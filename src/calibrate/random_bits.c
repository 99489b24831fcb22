#include "calibrate/random_bits.h"

#include <stdlib.h>

#include "util/random.h"

enum { CURSOR = 0 };

bool random_bits_make(struct random_bits *bits, size_t count, struct error *error) {
    uint64_t state = 1;
    bits->bytes = malloc(count);
    if (!bits->bytes)
        return error_set(error, "out of memory for random branches");
    for (size_t i = 0; i < count; i++)
        bits->bytes[i] = random_next(&state) & 1;
    bits->fill = (struct host_fill){
        .kind = HOST_FILL_BYTES, .offset = WALK_TABLE, .size = count, .bytes = bits->bytes};
    bits->zeros = (struct host_data){.size = count + WALK_TABLE};
    bits->random =
        (struct host_data){.size = count + WALK_TABLE, .fills = &bits->fill, .fill_count = 1};
    return true;
}

void random_bits_free(struct random_bits *bits) {
    free(bits->bytes);
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
