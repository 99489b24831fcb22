#include "host/kernel.h"

#include <inttypes.h>
#include <string.h>

#include "util/array.h"
#include "util/random.h"

/* ---- data ---- */

static bool fits(const struct host_data *data, uint64_t offset, uint64_t size) {
    return offset <= data->size && size <= data->size - offset;
}

static bool fill_fits(const struct host_data *data, const struct host_fill *fill) {
    switch (fill->kind) {
    case HOST_FILL_BYTES:
        return fits(data, fill->offset, fill->size);
    case HOST_FILL_ADDRESS:
        return fits(data, fill->offset, 8) && fill->target < data->size;
    case HOST_FILL_CHASE:
        return fits(data, fill->offset, fill->size) && fill->stride >= 8;
    case HOST_FILL_CHAIN:
        return all_where(i, fill->size, fits(data, fill->chain[i], 8));
    }
    return false;
}

bool host_page_fits(uint64_t page) {
    return page % HOST_PAGE == 0 && page >= HOST_PAGES_FROM && page < HOST_PAGES_END &&
           (page < HOST_KERNELS_AT || page >= HOST_KERNELS_END);
}

bool host_kernel_check(const struct host_kernel *kernel, struct error *error) {
    if (!kernel->code_size || kernel->code_size > HOST_MOST_CODE || !kernel->iterations)
        return error_set(error, "a kernel of %zu bytes and %" PRIu64 " iterations cannot be run",
                         kernel->code_size, kernel->iterations);
    for (size_t i = 0; i < kernel->page_count; i++)
        if (i >= HOST_MOST_PAGES || !host_page_fits(kernel->pages[i]))
            return error_set(error, "shared page %zu of a kernel cannot lie at 0x%" PRIx64, i,
                             kernel->pages[i]);
    if (!kernel->data)
        return true;
    if (!kernel->data->size || kernel->data->size > HOST_MOST_DATA)
        return error_set(error, "a kernel has %" PRIu64 " bytes of data; at most %d can be had",
                         kernel->data->size, HOST_MOST_DATA);
    for (size_t i = 0; i < kernel->data->fill_count; i++)
        if (!fill_fits(kernel->data, &kernel->data->fills[i]))
            return error_set(error, "fill %zu of a kernel's data goes beyond their end", i);
    return true;
}

static void put(uint8_t *at, uint64_t offset, uint64_t value) {
    memcpy(at + offset, &value, sizeof value);
}
static uint64_t get(const uint8_t *at, uint64_t offset) {
    uint64_t value;
    memcpy(&value, at + offset, sizeof value);
    return value;
}

/* Sattolo's algorithm (Sattolo 1986): a random permutation that is one cycle. Each element holds
 * its successor from the start, so no more memory is needed. */
static void fill_chase(const struct host_fill *fill, uint8_t *at, uint64_t address) {
    const uint64_t count = fill->size / fill->stride;
    uint64_t state = fill->seed;
    for (uint64_t i = 0; i < count; i++)
        put(at, fill->offset + i * fill->stride, address + fill->offset + i * fill->stride);
    for (uint64_t i = count; i-- > 1;) {
        const uint64_t other = fill->offset + random_next(&state) % i * fill->stride;
        const uint64_t self = fill->offset + i * fill->stride;
        const uint64_t successor = get(at, self);
        put(at, self, get(at, other));
        put(at, other, successor);
    }
}

static void fill_chain(const struct host_fill *fill, uint8_t *at, uint64_t address) {
    for (uint64_t i = 0; i < fill->size; i++)
        put(at, fill->chain[i], address + fill->chain[i + 1 < fill->size ? i + 1 : 0]);
}

void host_data_fill(const struct host_data *data, void *at, uint64_t address) {
    for (size_t i = 0; i < data->fill_count; i++) {
        const struct host_fill *fill = &data->fills[i];
        if (fill->kind == HOST_FILL_BYTES)
            memcpy((uint8_t *)at + fill->offset, fill->bytes, fill->size);
        else if (fill->kind == HOST_FILL_ADDRESS)
            put(at, fill->offset, address + fill->target);
        else if (fill->kind == HOST_FILL_CHASE)
            fill_chase(fill, at, address);
        else
            fill_chain(fill, at, address);
    }
}

/* ---- the call ---- */

static const ZydisRegister SAVED[] = {ZYDIS_REGISTER_RBX, ZYDIS_REGISTER_RBP, ZYDIS_REGISTER_R12,
                                      ZYDIS_REGISTER_R13, ZYDIS_REGISTER_R14, ZYDIS_REGISTER_R15};
enum { SAVED_COUNT = sizeof SAVED / sizeof *SAVED, NO_FLAGS = 0x202 };

static void clear_registers(struct assembler *code) {
    for (unsigned i = 0; i < 16; i++) {
        const ZydisRegister vector = ZYDIS_REGISTER_XMM0 + i, low = ZYDIS_REGISTER_EAX + i;
        const ZydisEncoderOperand pxor[] = {operand_register(vector), operand_register(vector)};
        const ZydisEncoderOperand xor [] = {operand_register(low), operand_register(low)};
        assembler_put(code, ZYDIS_MNEMONIC_PXOR, pxor, 2);
        if (low != ZYDIS_REGISTER_ESP && low < ZYDIS_REGISTER_R14D)
            assembler_put(code, ZYDIS_MNEMONIC_XOR, xor, 2);
    }
}

void host_wrap(struct assembler *code, const struct host_kernel *kernel, uint64_t context,
               uint64_t data, uint64_t stack) {
    for (unsigned i = 0; i < SAVED_COUNT; i++)
        ASSEMBLE(code, PUSH, operand_register(SAVED[i]));
    ASSEMBLE(code, MOV, REG(RAX), IMMEDIATE((int64_t)context));
    ASSEMBLE(code, MOV, MEMORY(RAX, 0, 64), REG(RSP));
    ASSEMBLE(code, STMXCSR, MEMORY(RAX, 8, 32));
    ASSEMBLE(code, MOV, REG(R15), REG(RDI));
    ASSEMBLE(code, MOV, REG(R14), IMMEDIATE((int64_t)data));
    ASSEMBLE(code, MOV, REG(RSP), IMMEDIATE((int64_t)stack));
    clear_registers(code);
    struct label begin = {0};
    assembler_branch(code, ZYDIS_MNEMONIC_JMP, &begin);
    assembler_align(code, HOST_PAGE);
    assembler_bind(code, &begin);
    assembler_bytes(code, kernel->code, kernel->code_size);
    if (kernel->features & (HOST_AVX | HOST_AVX2 | HOST_FMA | HOST_AVX512F))
        assembler_put(code, ZYDIS_MNEMONIC_VZEROUPPER, NULL, 0);
    ASSEMBLE(code, MOV, REG(RAX), IMMEDIATE((int64_t)context));
    ASSEMBLE(code, MOV, REG(RSP), MEMORY(RAX, 0, 64));
    /* Direction, and whether addresses have to be aligned, as C wants them. */
    ASSEMBLE(code, PUSH, IMMEDIATE(NO_FLAGS));
    assembler_put(code, ZYDIS_MNEMONIC_POPFQ, NULL, 0);
    ASSEMBLE(code, LDMXCSR, MEMORY(RAX, 8, 32));
    for (unsigned i = SAVED_COUNT; i--;)
        ASSEMBLE(code, POP, operand_register(SAVED[i]));
    assembler_put(code, ZYDIS_MNEMONIC_RET, NULL, 0);
}
