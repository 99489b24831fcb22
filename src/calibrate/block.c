/* The kernel of so many copies:
 *
 *         fill the pages; denormals are zero; mm7 = iterations
 *     loop:
 *         all registers = BLOCK_VALUE
 *         lfence
 *         the block, so many times
 *         lfence
 *         count mm7 down
 *         jnz loop
 *
 * The count is in a register of MMX, which blocks do not use: those that do are refused. The fences
 * keep one iteration from another; what they, and filling and emptying the pipeline, cost is the
 * same for both numbers of copies. */
#include "calibrate/block.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/child.h"

/* Enough instructions in a row that they fill any window, and no more code than the L1 holds. */
enum { WANTED_INSTRUCTIONS = 600, MOST_COPIES = 100, MOST_COPIED = 12 << 10 };
enum { ITERATIONS = 16, TRIED = 200, MXCSR_NO_DENORMALS = 0x9fc0, TRY_SECONDS = 1 };

static const uint64_t PAGE = BLOCK_VALUE / HOST_PAGE * HOST_PAGE;

static bool refuse(struct block *block, const char *why) {
    /* A hostile block may have overwritten it. */
    snprintf(block->failure, sizeof block->failure, "%.*s", (int)sizeof block->failure - 1, why);
    return false;
}

/* ---- reading ---- */

struct decoded {
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

static bool is_branch(const ZydisDecodedInstruction *insn) {
    switch (insn->meta.category) {
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_UNCOND_BR:
        return true;
    default:
        return false;
    }
}

static bool is_of_system(const ZydisDecodedInstruction *insn) {
    switch (insn->meta.category) {
    case ZYDIS_CATEGORY_INTERRUPT:
    case ZYDIS_CATEGORY_IO:
    case ZYDIS_CATEGORY_IOSTRINGOP:
    case ZYDIS_CATEGORY_RDWRFSGS:
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET:
    case ZYDIS_CATEGORY_SYSTEM:
        return true;
    default:
        return insn->attributes & ZYDIS_ATTRIB_IS_PRIVILEGED;
    }
}

static bool uses_counter(const struct decoded *decoded) {
    for (unsigned i = 0; i < decoded->insn.operand_count; i++) {
        const ZydisDecodedOperand *operand = &decoded->operands[i];
        if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER)
            continue;
        const ZydisRegisterClass class = ZydisRegisterGetClass(operand->reg.value);
        if (class == ZYDIS_REGCLASS_MMX || class == ZYDIS_REGCLASS_X87)
            return true;
    }
    return decoded->insn.meta.category == ZYDIS_CATEGORY_X87_ALU ||
           decoded->insn.mnemonic == ZYDIS_MNEMONIC_EMMS ||
           decoded->insn.mnemonic == ZYDIS_MNEMONIC_FXRSTOR ||
           decoded->insn.mnemonic == ZYDIS_MNEMONIC_XRSTOR;
}

static uint32_t features_of(const ZydisDecodedInstruction *insn) {
    switch (insn->meta.isa_ext) {
    case ZYDIS_ISA_EXT_AVX:
    case ZYDIS_ISA_EXT_AVXAES:
        return HOST_AVX;
    case ZYDIS_ISA_EXT_AVX2:
    case ZYDIS_ISA_EXT_AVX2GATHER:
        return HOST_AVX | HOST_AVX2;
    case ZYDIS_ISA_EXT_FMA:
        return HOST_AVX | HOST_FMA;
    case ZYDIS_ISA_EXT_AVX512EVEX:
    case ZYDIS_ISA_EXT_AVX512VEX:
        return HOST_AVX | HOST_AVX512F | HOST_AVX512BW | HOST_AVX512VL;
    case ZYDIS_ISA_EXT_BMI1:
        return HOST_BMI;
    case ZYDIS_ISA_EXT_BMI2:
        return HOST_BMI2;
    case ZYDIS_ISA_EXT_AES:
        return HOST_AES;
    default:
        return 0;
    }
}

/* The memory operand that is relative to the instruction or a segment; NULL: none is. */
static const ZydisDecodedOperand *relative_operand(const struct decoded *decoded) {
    for (unsigned i = 0; i < decoded->insn.operand_count; i++) {
        const ZydisDecodedOperand *operand = &decoded->operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
            (operand->mem.base == ZYDIS_REGISTER_RIP || operand->mem.segment == ZYDIS_REGISTER_FS ||
             operand->mem.segment == ZYDIS_REGISTER_GS))
            return operand;
    }
    return NULL;
}

static bool is_absolute(const ZydisDecodedOperand *operand) {
    return operand->mem.base == ZYDIS_REGISTER_RIP || (!operand->mem.base && !operand->mem.index);
}

static void append(struct block *block, const uint8_t *bytes, size_t size) {
    memcpy(block->code + block->size, bytes, size);
    block->size += size;
}

/* The instruction without its segment, and where that leaves or was no register, with an address in
 * the page: [rip + d] is `mod 00, r/m 101`, [d] is r/m 100 with a SIB byte of neither base nor
 * index (Intel SDM 2, tables 2-2 and 2-3). `address`: of the instruction in its program. */
static void move_address(struct block *block, const struct decoded *decoded,
                         const ZydisDecodedOperand *relative, const uint8_t *bytes,
                         uint64_t address) {
    enum { TO_SIB = 4, NO_BASE_NO_INDEX = 0x25 };
    const ZydisDecodedInstruction *insn = &decoded->insn;
    const size_t modrm = insn->raw.modrm.offset, disp = insn->raw.disp.offset;
    const bool rip = relative->mem.base == ZYDIS_REGISTER_RIP;
    const bool absolute = is_absolute(relative);
    const uint64_t from = (uint64_t)relative->mem.disp.value + (rip ? address + insn->length : 0);
    const uint32_t to = (uint32_t)(PAGE + from % HOST_PAGE);
    for (size_t i = 0; i < modrm; i++)
        if (i >= insn->raw.prefix_count || (bytes[i] != 0x64 && bytes[i] != 0x65))
            append(block, &bytes[i], 1);
    if (rip)
        append(block, (const uint8_t[]){(uint8_t)((bytes[modrm] & ~7) | TO_SIB), NO_BASE_NO_INDEX},
               2);
    else
        append(block, bytes + modrm, (absolute ? disp : insn->length) - modrm);
    if (absolute) {
        append(block, (const uint8_t *)&to, sizeof to);
        append(block, bytes + disp + sizeof to, insn->length - disp - sizeof to);
    }
}

static bool add(struct block *block, const struct decoded *decoded, const uint8_t *bytes,
                uint64_t address) {
    const ZydisDecodedOperand *relative = relative_operand(decoded);
    if (is_of_system(&decoded->insn))
        return refuse(block, "calls the system, or needs its rights");
    if (uses_counter(decoded))
        return refuse(block, "uses registers of the x87 unit, which count the iterations");
    if (block->instructions == BLOCK_MOST_INSTRUCTIONS ||
        block->size + decoded->insn.length + 1 > BLOCK_MOST_BYTES)
        return refuse(block, "is too long");
    block->features |= features_of(&decoded->insn);
    block->instructions++;
    if (relative && (!decoded->insn.raw.modrm.offset ||
                     (is_absolute(relative) && decoded->insn.raw.disp.size != 32)))
        return refuse(block, "has an address that cannot be moved");
    if (relative)
        move_address(block, decoded, relative, bytes, address);
    else
        append(block, bytes, decoded->insn.length);
    return true;
}

static unsigned copies_of(const struct block *block) {
    size_t copies = (WANTED_INSTRUCTIONS + block->instructions - 1) / block->instructions;
    copies = copies < MOST_COPIES ? copies : MOST_COPIES;
    return (unsigned)(copies * block->size <= MOST_COPIED ? copies : MOST_COPIED / block->size);
}

bool block_read(struct block *block, const uint8_t *bytes, size_t size, uint64_t address) {
    ZydisDecoder decoder;
    struct decoded decoded;
    *block = (struct block){.pages = {PAGE}, .page_count = 1};
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    for (size_t offset = 0; offset < size; offset += decoded.insn.length) {
        if (ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, bytes + offset, size - offset,
                                               &decoded.insn, decoded.operands)))
            return refuse(block, "has bytes that are no instruction");
        if (is_branch(&decoded.insn) && offset + decoded.insn.length < size)
            return refuse(block, "is left before its end");
        if (!is_branch(&decoded.insn) && !add(block, &decoded, bytes + offset, address + offset))
            return false;
    }
    if (!block->instructions)
        return refuse(block, "has no instruction but a branch");
    block->copies[0] = copies_of(block);
    block->copies[1] = 2 * block->copies[0];
    return true;
}

/* ---- kernels ---- */

static void fill_page(struct assembler *code, uint64_t page) {
    ASSEMBLE(code, MOV, REG(RDI), IMMEDIATE((int64_t)page));
    ASSEMBLE(code, MOV, REG(ECX), IMMEDIATE(HOST_PAGE / 8));
    ASSEMBLE(code, MOV, REG(EAX), IMMEDIATE((int64_t)BLOCK_VALUE));
    static const uint8_t rep_stosq[] = {0xf3, 0x48, 0xab};
    assembler_bytes(code, rep_stosq, sizeof rep_stosq);
}

/* Memory that several pages show once. */
static void fill_pages(struct assembler *code, const struct block *block) {
    bool filled[HOST_FRAMES] = {false};
    for (size_t i = 0; i < block->page_count; i++) {
        bool *frame = &filled[host_frame_of(block->pages[i])];
        if (!*frame)
            fill_page(code, block->pages[i]);
        *frame = true;
    }
}

static void set_registers(struct assembler *code) {
    for (unsigned i = 0; i < 16; i++) {
        const ZydisEncoderOperand operands[] = {operand_register(ZYDIS_REGISTER_EAX + i),
                                                operand_immediate((int64_t)BLOCK_VALUE)};
        assembler_put(code, ZYDIS_MNEMONIC_MOV, operands, 2);
    }
}

static void put_lfence(struct assembler *code) {
    assembler_put(code, ZYDIS_MNEMONIC_LFENCE, NULL, 0);
}

static void put_kernel(struct assembler *code, const struct block *block, unsigned copies) {
    fill_pages(code, block);
    ASSEMBLE(code, PUSH, IMMEDIATE(MXCSR_NO_DENORMALS));
    ASSEMBLE(code, LDMXCSR, MEMORY(RSP, 0, 32));
    ASSEMBLE(code, MOVQ, REG(MM7), REG(R15));
    struct label loop = host_loop_begin(code);
    set_registers(code);
    put_lfence(code);
    assembler_repeat(code, block->code, block->size, copies);
    put_lfence(code);
    ASSEMBLE(code, MOVQ, REG(R15), REG(MM7));
    ASSEMBLE(code, DEC, REG(R15));
    ASSEMBLE(code, MOVQ, REG(MM7), REG(R15));
    assembler_branch(code, ZYDIS_MNEMONIC_JNZ, &loop);
    assembler_put(code, ZYDIS_MNEMONIC_EMMS, NULL, 0);
}

/* Kernels of blocks, `each` of every block that can be run: those of its last numbers of copies. */
struct kernels {
    struct host_kernel *kernels;
    const struct host_kernel **list;
    struct assembler *codes;
    struct host_result *results;
    size_t *blocks; /* whose it is */
    size_t count;
};

static void kernels_free(struct kernels *kernels) {
    for (size_t i = 0; kernels->codes && i < kernels->count; i++)
        assembler_free(&kernels->codes[i]);
    free(kernels->kernels);
    free(kernels->list);
    free(kernels->codes);
    free(kernels->results);
    free(kernels->blocks);
}

static bool add_kernel(struct kernels *kernels, const struct block *block, size_t number,
                       unsigned copies, struct error *error) {
    const size_t i = kernels->count++;
    put_kernel(&kernels->codes[i], block, copies);
    if (!assembler_finish(&kernels->codes[i], error))
        return false;
    kernels->kernels[i] = (struct host_kernel){.code = kernels->codes[i].code,
                                               .code_size = kernels->codes[i].size,
                                               .pages = block->pages,
                                               .page_count = block->page_count,
                                               .features = block->features,
                                               .iterations = ITERATIONS};
    kernels->list[i] = &kernels->kernels[i];
    kernels->blocks[i] = number;
    return true;
}

/* Of blocks that can be run, and of which `open`, if there is one, is true. */
static bool kernels_make(struct kernels *kernels, const struct block *blocks, size_t count,
                         unsigned each, const bool *open, struct error *error) {
    const size_t room = each * count + 1;
    *kernels = (struct kernels){
        calloc(room, sizeof *kernels->kernels), calloc(room, sizeof *kernels->list),
        calloc(room, sizeof *kernels->codes),   calloc(room, sizeof *kernels->results),
        calloc(room, sizeof *kernels->blocks),  0};
    if (!kernels->kernels || !kernels->list || !kernels->codes || !kernels->results ||
        !kernels->blocks)
        return error_set(error, "out of memory for %zu blocks", count);
    for (size_t i = 0; i < count; i++)
        for (unsigned k = 2 - each; k < 2; k++)
            if (!blocks[i].failure[0] && (!open || open[i]) &&
                !add_kernel(kernels, &blocks[i], i, blocks[i].copies[k], error))
                return false;
    return true;
}

/* ---- finding pages ---- */

/* More often than once, as what a block leaves in memory may be the next address. */
static void try(void *context, const struct host_placed *placed, struct host_result *result) {
    (void)context;
    placed->run(TRIED);
    result->state = HOST_MEASURED;
}

static bool has_page(const struct block *block, uint64_t page) {
    for (size_t i = 0; i < block->page_count; i++)
        if (block->pages[i] == page)
            return true;
    return false;
}

/* Whether it is worth another try. */
static bool learn(struct block *block, const struct host_result *result) {
    const uint64_t page = result->fault / HOST_PAGE * HOST_PAGE;
    if (result->state == HOST_MEASURED)
        return false;
    if (!result->faulted || !host_page_fits(page) || has_page(block, page))
        return refuse(block, result->failure);
    if (block->page_count == HOST_MOST_PAGES)
        return refuse(block, "touches more pages than it can have");
    block->pages[block->page_count++] = page;
    return true;
}

/* Each that is open once; *any: some still are. */
static bool try_all(struct block *blocks, size_t count, bool *open, bool *any,
                    const struct host_child_options *options, struct error *error) {
    struct kernels kernels;
    *any = false;
    bool good =
        kernels_make(&kernels, blocks, count, 1, open, error) &&
        host_child_run(kernels.list, kernels.count, options, try, NULL, kernels.results, error);
    for (size_t i = 0; good && i < kernels.count; i++) {
        const size_t number = kernels.blocks[i];
        open[number] = learn(&blocks[number], &kernels.results[i]);
        *any |= open[number];
    }
    kernels_free(&kernels);
    return good;
}

bool blocks_place(struct block *blocks, size_t count, const struct watcher *watcher,
                  struct error *error) {
    const struct host_child_options options = {.seconds = TRY_SECONDS, .watcher = *watcher};
    const uint32_t here = host_features();
    bool *open = calloc(count + 1, sizeof *open);
    bool good = open || error_set(error, "out of memory for %zu blocks", count), any = good;
    for (size_t i = 0; good && i < count; i++) {
        const uint32_t lacks = blocks[i].features & ~here;
        if (!blocks[i].failure[0] && lacks)
            snprintf(blocks[i].failure, sizeof blocks[i].failure, "needs %s",
                     host_feature_name(lacks));
        open[i] = !blocks[i].failure[0];
    }
    while (good && any && !watcher_stops(watcher))
        good = try_all(blocks, count, open, &any, &options, error);
    free(open);
    return good;
}

/* ---- measuring ---- */

static struct host_result difference(const struct block *block, const struct host_result both[2]) {
    const unsigned more = block->copies[1] - block->copies[0];
    for (unsigned k = 0; k < 2; k++)
        if (both[k].state != HOST_MEASURED && both[k].state != HOST_UNSTABLE)
            return both[k];
    return (struct host_result){.state =
                                    both[0].state == HOST_UNSTABLE ? HOST_UNSTABLE : both[1].state,
                                .cycles = (both[1].cycles - both[0].cycles) / more,
                                .spread = hypot(both[0].spread, both[1].spread) / more};
}

bool blocks_measure(const struct block *blocks, size_t count, struct host_meter *meter,
                    struct host_result *results, struct error *error) {
    struct kernels kernels;
    bool good = kernels_make(&kernels, blocks, count, 2, NULL, error) &&
                meter->measure(meter, kernels.list, kernels.count, kernels.results, error);
    for (size_t i = 0; i < count; i++) {
        results[i] = (struct host_result){.state = HOST_FAILED};
        snprintf(results[i].failure, sizeof results[i].failure, "%s", blocks[i].failure);
    }
    for (size_t i = 0; good && i + 1 < kernels.count; i += 2)
        results[kernels.blocks[i]] = difference(&blocks[kernels.blocks[i]], &kernels.results[i]);
    kernels_free(&kernels);
    return good;
}
