/* Labels are resolved as they are bound: displacements of all uses are 32 bits long, the last four
 * bytes of their instructions. */
#include "host/assembler.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"

void assembler_free(struct assembler *code) {
    free(code->code);
    *code = (struct assembler){0};
}

bool assembler_finish(struct assembler *code, struct error *error) {
    if (!code->failed && code->pending)
        code->failed = !error_set(&code->error, "a label of made code is not bound");
    if (code->failed)
        *error = code->error;
    return !code->failed;
}

void assembler_repeat(struct assembler *code, const void *bytes, size_t size, size_t times) {
    if (code->failed)
        return;
    if (!array_room(code->code, code->capacity, code->size + size * times)) {
        code->failed = !error_set(&code->error, "out of memory for made code");
        return;
    }
    for (size_t i = 0; i < times; i++, code->size += size)
        memcpy(code->code + code->size, bytes, size);
}

void assembler_bytes(struct assembler *code, const void *bytes, size_t size) {
    assembler_repeat(code, bytes, size, 1);
}

void assembler_nops(struct assembler *code, size_t count) {
    assembler_repeat(code, "\x90", 1, count);
}

void assembler_align(struct assembler *code, size_t alignment) {
    uint8_t fill[ZYDIS_MAX_INSTRUCTION_LENGTH];
    while (!code->failed && code->size % alignment) {
        size_t missing = alignment - code->size % alignment;
        if (missing > 9) /* the longest no-op */
            missing = 9;
        ZydisEncoderNopFill(fill, missing);
        assembler_bytes(code, fill, missing);
    }
}

void assembler_request(struct assembler *code, const ZydisEncoderRequest *request) {
    ZydisEncoderRequest whole = *request;
    uint8_t bytes[ZYDIS_MAX_INSTRUCTION_LENGTH];
    ZyanUSize size = sizeof bytes;
    if (code->failed)
        return;
    whole.machine_mode = ZYDIS_MACHINE_MODE_LONG_64;
    if (ZYAN_SUCCESS(ZydisEncoderEncodeInstruction(&whole, bytes, &size)))
        assembler_bytes(code, bytes, size);
    else
        code->failed =
            !error_set(&code->error, "cannot encode %s with %u operands",
                       ZydisMnemonicGetString(request->mnemonic), request->operand_count);
}

void assembler_put(struct assembler *code, ZydisMnemonic mnemonic,
                   const ZydisEncoderOperand *operands, unsigned count) {
    ZydisEncoderRequest request = {.mnemonic = mnemonic, .operand_count = (ZyanU8)count};
    for (unsigned i = 0; i < count && i < ZYDIS_ENCODER_MAX_OPERANDS; i++)
        request.operands[i] = operands[i];
    assembler_request(code, &request);
}

/* ---- labels ---- */

static void resolve(struct assembler *code, size_t use, size_t position) {
    const int32_t displacement = (int32_t)((int64_t)position - (int64_t)use);
    memcpy(code->code + use - sizeof displacement, &displacement, sizeof displacement);
}

/* The instruction just made ends in a displacement to the label. */
static void use_label(struct assembler *code, struct label *label) {
    if (code->failed)
        return;
    if (label->bound) {
        resolve(code, code->size, label->position);
    } else if (label->use_count == LABEL_USES) {
        code->failed = !error_set(&code->error, "a label of made code has too many uses");
    } else {
        label->uses[label->use_count++] = code->size;
        code->pending++;
    }
}

void assembler_bind(struct assembler *code, struct label *label) {
    label->bound = true;
    label->position = code->size;
    for (uint32_t i = 0; i < label->use_count && !code->failed; i++, code->pending--)
        resolve(code, label->uses[i], code->size);
}

void assembler_branch(struct assembler *code, ZydisMnemonic mnemonic, struct label *label) {
    assembler_request(code, &(ZydisEncoderRequest){.mnemonic = mnemonic,
                                                   .branch_type = ZYDIS_BRANCH_TYPE_NEAR,
                                                   .branch_width = ZYDIS_BRANCH_WIDTH_32,
                                                   .operand_count = 1,
                                                   .operands = {IMMEDIATE(0)}});
    use_label(code, label);
}
