/* Registers:
 *
 *     rbx r8 r9 r10 r11 r12   results, in turn          r13 rdi   constants, 1
 *     rsi                     the address of a chain    r14       that of others
 *     rbp                     the stack pointer         rax rdx rcx   for hidden operands; results
 *                                                                     of forms without them
 *     vectors 0 to 11         results, in turn          12 to 14  constants
 *
 * A division then has a divisor of 1 and a dividend of 57 bits. Numbers in vectors and memory are
 * 1 as the form's elements are wide; there are no subnormal ones. */
#include "calibrate/form_kernels.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"

enum {
    LINKS = 24,     /* of a chain, in one iteration */
    COPIES = 48,    /* that are independent: so many that the loop around them is little */
    EXECUTED = 720, /* instructions of the form, in all iterations */
    RAX = 0,
    RCX = 1,
    RDX = 2,
    RBX = 3,
    RSP = 4,
    RSI = 6,
    RDI = 7,
    R8 = 8,
    R11 = 11,
    R13 = 13,
    R14 = 14,
    FLOATS_AT = 0, /* of the data: floats of 1, doubles of 1, integers of 1; and what is written */
    DOUBLES_AT = 1024,
    ONES_AT = 2048,
    WRITTEN_AT = 4096,
    DATA_BYTES = 8192,
    STACK_ROOM = 4096
};

/* The first ones are for every form, the others for those that do not use them unnamed: where ports
 * are chosen before operands are ready, few chains do not keep all of them busy. */
static const uint8_t RESULTS[] = {RBX, R8, 9, 10, R11, 12, RSI, RAX, RDX, RCX};
enum {
    MOST_RESULTS = sizeof RESULTS,
    SURE_RESULTS = 6,
    VECTOR_RESULTS = 12,
    WRITTEN_LINES = 24,
    LINE = 64,
    BANK = 8 /* bytes */
};

/* ---- data ---- */

static const float FLOATS[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
static const double DOUBLES[8] = {1, 1, 1, 1, 1, 1, 1, 1};
static const uint64_t ONES[8] = {1, 1, 1, 1, 1, 1, 1, 1};
static const struct host_fill FILLS[] = {
    {.kind = HOST_FILL_BYTES, .offset = FLOATS_AT, .size = sizeof FLOATS, .bytes = FLOATS},
    {.kind = HOST_FILL_BYTES, .offset = DOUBLES_AT, .size = sizeof DOUBLES, .bytes = DOUBLES},
    {.kind = HOST_FILL_BYTES, .offset = ONES_AT, .size = sizeof ONES, .bytes = ONES},
};
static const struct host_data DATA = {
    .size = DATA_BYTES, .fills = FILLS, .fill_count = sizeof FILLS / sizeof *FILLS};

/* Where what an instruction reads lies: integers for those that divide by it, else numbers as wide
 * as its elements. */
static int32_t data_for(insn_form form) {
    const char *name = ZydisMnemonicGetString((ZydisMnemonic)form_parts(form).mnemonic);
    const size_t length = strlen(name);
    if (!strcmp(name, "div") || !strcmp(name, "idiv"))
        return ONES_AT;
    const char *end = name + (length > 2 ? length - 2 : 0);
    return !strcmp(end, "pd") || !strcmp(end, "sd") || strstr(name, "sd2") || strstr(name, "pd2")
               ? DOUBLES_AT
               : FLOATS_AT;
}

/* ---- around the copies ---- */

struct making {
    struct kernel_list *kernels;
    struct form_probes *probes;
    uint32_t number;
    insn_form form;
    const struct form_uses *uses;
    int32_t data;
    uint8_t results[MOST_RESULTS]; /* of RESULTS those that it may have */
    unsigned result_count;
    struct assembler *code; /* of the kernel at hand */
    struct label loop;
};

static bool uses_vectors(const struct form_uses *uses) {
    return any_where(i, uses->count, form_kind_is_vector(uses->operands[i].kind));
}

/* In the width that the form has, and by VEX unless it is a legacy instruction: mixing the two
 * costs. */
static void fill_vectors(const struct making *making) {
    unsigned kind = FORM_XMM;
    for (unsigned i = 0; i < making->uses->count; i++)
        if (form_kind_is_vector(making->uses->operands[i].kind) &&
            making->uses->operands[i].kind > kind)
            kind = making->uses->operands[i].kind;
    const unsigned bits = 128u << (kind - FORM_XMM);
    for (unsigned number = 0; number < 16; number++) {
        const ZydisEncoderOperand operands[] = {
            operand_register(form_register(kind, number)),
            operand_memory(ZYDIS_REGISTER_R14, ZYDIS_REGISTER_NONE, 0,
                           making->data == ONES_AT ? FLOATS_AT : making->data, bits)};
        assembler_put(making->code,
                      making->uses->legacy ? ZYDIS_MNEMONIC_MOVUPS : ZYDIS_MNEMONIC_VMOVUPS,
                      operands, 2);
    }
}

static void set_registers(const struct making *making) {
    struct assembler *code = making->code;
    ASSEMBLE(code, MOV, REG(RAX), IMMEDIATE(0x0123456701234567));
    for (unsigned i = 0; i < SURE_RESULTS; i++) {
        const ZydisEncoderOperand operands[] = {operand_register(ZYDIS_REGISTER_RAX + RESULTS[i]),
                                                REG(RAX)};
        assembler_put(code, ZYDIS_MNEMONIC_MOV, operands, 2);
    }
    ASSEMBLE(code, MOV, REG(R13), IMMEDIATE(1));
    ASSEMBLE(code, MOV, REG(RDI), IMMEDIATE(1));
    ASSEMBLE(code, MOV, REG(RCX), IMMEDIATE(3));
    ASSEMBLE(code, XOR, REG(EDX), REG(EDX));
    ASSEMBLE(code, MOV, REG(RSI), REG(R14));
    ASSEMBLE(code, LEA, REG(RBP), MEMORY(RSP, -STACK_ROOM, 64));
    ASSEMBLE(code, MOV, REG(RSP), REG(RBP));
    if (form_parts(making->form).mask)
        ASSEMBLE(code, KXNORW, REG(K1), REG(K1), REG(K1));
    if (uses_vectors(making->uses))
        fill_vectors(making);
}

/* A kernel begins, and its probe, of so many instructions of the form, is noted. */
static void begin(struct making *making, unsigned copies, struct form_probe probe) {
    const bool wide = !making->uses->legacy && uses_vectors(making->uses);
    struct kernel_list *kernels = making->kernels;
    struct form_probes *probes = making->probes;
    making->code = kernel_list_add(kernels, &(struct host_kernel){.data = &DATA,
                                                                  .iterations = EXECUTED / copies,
                                                                  .features = wide ? HOST_AVX : 0});
    probe.form = making->number;
    probe.copies = (uint16_t)copies;
    probe.kernel = kernels->count - 1;
    probes->out_of_memory |= !array_push(probes->items, probes->capacity, probes->count, probe);
    set_registers(making);
    making->loop = host_loop_begin(making->code);
}

static void end(struct making *making) {
    if (making->uses->writes & 1u << RSP)
        ASSEMBLE(making->code, MOV, REG(RSP), REG(RBP));
    host_loop_end(making->code, &making->loop);
}

/* ---- choices of registers ---- */

static uint8_t result_of(const struct making *making, unsigned kind, unsigned turn) {
    return form_kind_is_vector(kind) ? (uint8_t)(turn % VECTOR_RESULTS)
                                     : making->results[turn % making->result_count];
}

/* What neighbours read lies side by side in a line, as not every L1 cache has enough ports to a
 * bank. */
static int32_t place_of(unsigned kind, unsigned turn) {
    const unsigned bytes = form_kind_bits(kind) / 8;
    return (int32_t)(turn * (bytes > BANK ? bytes : BANK) % LINE);
}

/* Constants in what is read alone, results in turn in what is written. */
static struct form_choice choice_for(const struct making *making, unsigned turn) {
    struct form_choice choice = {.base = R14, .index = R13, .displacement = making->data};
    unsigned general = 0, vector = 0, written = 0;
    for (unsigned i = 0; i < making->uses->count; i++) {
        const struct form_use *use = &making->uses->operands[i];
        if (use->writes && form_kind_is_memory(use->kind))
            choice.displacement = WRITTEN_AT + (int32_t)(turn % WRITTEN_LINES) * LINE;
        else if (form_kind_is_memory(use->kind))
            choice.displacement = making->data + place_of(use->kind, turn);
        else if (use->writes)
            choice.operand[i] = result_of(making, use->kind, turn + 3 * written++);
        else if (form_kind_is_vector(use->kind))
            choice.operand[i] = (uint8_t)(12 + vector++ % 3);
        else if (form_kind_is_general(use->kind))
            choice.operand[i] = general++ ? RDI : R13;
        else if (use->kind >= FORM_ADDRESS)
            choice.base = RDI;
    }
    return choice;
}

/* ---- throughput ---- */

static void free_of_others(const struct making *making) {
    const struct form_uses *uses = making->uses;
    struct assembler *code = making->code;
    if (uses->reads & uses->writes & 1u << RAX)
        ASSEMBLE(code, MOV, REG(RAX), REG(RBX));
    if (uses->reads & uses->writes & 1u << RDX)
        ASSEMBLE(code, XOR, REG(EDX), REG(EDX));
    else if (uses->flags & FORM_WRITES_FLAGS)
        ASSEMBLE(code, TEST, REG(R13), REG(R13));
}

static bool waits_for_others(const struct form_uses *uses) {
    const bool flags = uses->flags & FORM_WRITES_FLAGS &&
                       (uses->flags & FORM_READS_FLAGS || !(uses->flags & FORM_WRITES_ALL_FLAGS));
    return uses->reads & uses->writes & ~(1u << RSP) || flags;
}

static void add_copies(struct making *making, bool freed) {
    begin(making, COPIES, (struct form_probe){.kind = freed ? PROBE_FREED : PROBE_THROUGHPUT});
    for (unsigned turn = 0; turn < COPIES; turn++) {
        const struct form_choice choice = choice_for(making, turn);
        if (freed)
            free_of_others(making);
        form_put(making->code, making->form, &choice);
    }
    end(making);
}

/* ---- chains ---- */

static void move_to_vector(const struct making *making, unsigned vector, unsigned general) {
    const ZydisEncoderOperand operands[] = {operand_register(ZYDIS_REGISTER_XMM0 + vector),
                                            operand_register(ZYDIS_REGISTER_RAX + general)};
    assembler_put(making->code, making->uses->legacy ? ZYDIS_MNEMONIC_MOVQ : ZYDIS_MNEMONIC_VMOVQ,
                  operands, 2);
}

static void move_to_general(const struct making *making, unsigned general, unsigned vector) {
    const ZydisEncoderOperand operands[] = {operand_register(ZYDIS_REGISTER_RAX + general),
                                            operand_register(ZYDIS_REGISTER_XMM0 + vector)};
    assembler_put(making->code, making->uses->legacy ? ZYDIS_MNEMONIC_MOVQ : ZYDIS_MNEMONIC_VMOVQ,
                  operands, 2);
}

/* `to` keeps its value and needs `from`: two cycles. */
static void depend(const struct making *making, unsigned to, unsigned from) {
    const ZydisEncoderOperand operands[] = {operand_register(ZYDIS_REGISTER_RAX + to),
                                            operand_register(ZYDIS_REGISTER_RAX + from)};
    assembler_put(making->code, ZYDIS_MNEMONIC_XOR, operands, 2);
    assembler_put(making->code, ZYDIS_MNEMONIC_XOR, operands, 2);
}

/* A general register that needs the flags: one cycle. */
static void take_flags(const struct making *making, unsigned to) {
    const ZydisEncoderOperand operands[] = {operand_register(ZYDIS_REGISTER_RAX + to), REG(R13)};
    assembler_put(making->code,
                  making->uses->zero_flag ? ZYDIS_MNEMONIC_CMOVZ : ZYDIS_MNEMONIC_CMOVB, operands,
                  2);
}

static bool same_file(unsigned one, unsigned other) {
    return (form_kind_is_general(one) && form_kind_is_general(other)) ||
           (form_kind_is_vector(one) && form_kind_is_vector(other));
}

/* From an operand in a register to one in a register. */
static void add_pair(struct making *making, uint8_t from, uint8_t to) {
    const struct form_uses *uses = making->uses;
    const unsigned read = uses->operands[from].kind, written = uses->operands[to].kind;
    const bool crosses = !same_file(read, written);
    begin(making, LINKS,
          (struct form_probe){.kind = PROBE_DATA, .from = from, .to = to, .transfers = crosses});
    for (unsigned turn = 0; turn < LINKS; turn++) {
        struct form_choice choice = choice_for(making, 0);
        if (from == to) {
            choice.operand[to] = result_of(making, written, 0);
        } else if (crosses) {
            choice.operand[from] = result_of(making, read, 1);
            choice.operand[to] = result_of(making, written, 2);
        } else {
            choice.operand[from] = result_of(making, read, turn % 2);
            choice.operand[to] = result_of(making, written, (turn + 1) % 2);
        }
        form_put(making->code, making->form, &choice);
        if (crosses && form_kind_is_vector(read))
            move_to_vector(making, choice.operand[from], choice.operand[to]);
        else if (crosses)
            move_to_general(making, choice.operand[from], choice.operand[to]);
    }
    end(making);
}

/* From a part of lea's address to the result. */
static void add_address_part(struct making *making, bool index) {
    begin(making, LINKS, (struct form_probe){.kind = PROBE_DATA, .from = 1, .to = 0});
    for (unsigned turn = 0; turn < LINKS; turn++) {
        struct form_choice choice = choice_for(making, 0);
        choice.operand[0] = making->results[(turn + 1) % 2];
        *(index ? &choice.index : &choice.base) = making->results[turn % 2];
        form_put(making->code, making->form, &choice);
    }
    end(making);
}

/* From a hidden register to the same or another one, or from the flags to an operand. */
static void add_hidden(struct making *making) {
    const struct form_uses *uses = making->uses;
    const unsigned from = (unsigned)__builtin_ctz(uses->reads | 1u << 16);
    const unsigned to = (unsigned)__builtin_ctz(uses->writes | 1u << 16);
    const bool itself = uses->reads & uses->writes;
    begin(making, LINKS,
          (struct form_probe){.kind = PROBE_DATA,
                              .from = PROBE_HIDDEN,
                              .to = PROBE_HIDDEN,
                              .partners = itself ? 0 : 2});
    for (unsigned turn = 0; turn < LINKS; turn++) {
        const struct form_choice choice = choice_for(making, turn);
        form_put(making->code, making->form, &choice);
        if (!itself)
            depend(making, from, to);
    }
    end(making);
}

static void add_from_flags(struct making *making, uint8_t to) {
    begin(making, LINKS,
          (struct form_probe){.kind = PROBE_DATA, .from = PROBE_HIDDEN, .to = to, .partners = 1});
    for (unsigned turn = 0; turn < LINKS; turn++) {
        const struct form_choice choice = choice_for(making, 0);
        const ZydisRegister result = form_register(FORM_R64, choice.operand[to]);
        form_put(making->code, making->form, &choice);
        /* Not test: some cores have its flags a cycle later than those of a comparison. */
        ASSEMBLE(making->code, CMP, operand_register(result), IMMEDIATE(1));
    }
    end(making);
}

/* From an operand in a register to the flags. */
static void add_to_flags(struct making *making, uint8_t from) {
    const bool vector = form_kind_is_vector(making->uses->operands[from].kind);
    begin(making, LINKS,
          (struct form_probe){.kind = PROBE_FLAGS,
                              .from = from,
                              .to = PROBE_HIDDEN,
                              .partners = 1,
                              .transfers = vector});
    for (unsigned turn = 0; turn < LINKS; turn++) {
        struct form_choice choice = choice_for(making, 0);
        choice.operand[from] = result_of(making, making->uses->operands[from].kind, 0);
        form_put(making->code, making->form, &choice);
        take_flags(making, vector ? R11 : choice.operand[from]);
        if (vector)
            move_to_vector(making, choice.operand[from], R11);
    }
    end(making);
}

/* From the address of what is read to the result, or to the flags. */
static void add_from_address(struct making *making, uint8_t to) {
    const bool flags = to == PROBE_HIDDEN;
    const bool vector = !flags && form_kind_is_vector(making->uses->operands[to].kind);
    begin(making, LINKS,
          (struct form_probe){
              .kind = PROBE_ADDRESS, .to = to, .partners = flags ? 3 : 2, .transfers = vector});
    for (unsigned turn = 0; turn < LINKS; turn++) {
        struct form_choice choice = choice_for(making, 0);
        unsigned result = flags ? R11 : choice.operand[to];
        choice.base = RSI;
        form_put(making->code, making->form, &choice);
        if (flags)
            take_flags(making, result);
        if (vector) {
            move_to_general(making, R11, result);
            result = R11;
        }
        depend(making, RSI, result);
    }
    end(making);
}

/* ---- a form ---- */

static bool in_register(unsigned kind) {
    return form_kind_is_general(kind) || form_kind_is_vector(kind);
}

static void add_to_operand(struct making *making, uint8_t to) {
    const struct form_uses *uses = making->uses;
    for (uint8_t from = 0; from < uses->count; from++) {
        const struct form_use *use = &uses->operands[from];
        if (use->reads && in_register(use->kind))
            add_pair(making, from, to);
        else if (use->kind > FORM_ADDRESS) {
            if ((use->kind - FORM_ADDRESS) & FORM_PART_BASE)
                add_address_part(making, false);
            if ((use->kind - FORM_ADDRESS) & FORM_PART_INDEX)
                add_address_part(making, true);
        } else if (form_kind_is_memory(use->kind) && use->reads && !use->writes) {
            add_from_address(making, to);
        }
    }
    if (uses->flags & FORM_READS_FLAGS && form_kind_is_general(uses->operands[to].kind))
        add_from_flags(making, to);
}

static void add_to_all_flags(struct making *making) {
    const struct form_uses *uses = making->uses;
    const bool writes_register = any_where(i, uses->count, uses->operands[i].writes);
    for (uint8_t from = 0; from < uses->count; from++) {
        const struct form_use *use = &uses->operands[from];
        if (use->reads && in_register(use->kind))
            add_to_flags(making, from);
        else if (form_kind_is_memory(use->kind) && use->reads && !writes_register)
            add_from_address(making, PROBE_HIDDEN);
    }
}

static void choose_results(struct making *making) {
    const struct form_uses *uses = making->uses;
    const bool cl = any_where(i, uses->count, uses->operands[i].kind == FORM_CL);
    const unsigned taken = uses->reads | uses->writes | (cl ? 1u << RCX : 0);
    for (unsigned i = 0; i < MOST_RESULTS; i++)
        if (i < SURE_RESULTS || !(taken & 1u << RESULTS[i]))
            making->results[making->result_count++] = RESULTS[i];
}

void form_kernels_add(struct kernel_list *kernels, struct form_probes *probes, uint32_t number,
                      insn_form form, const struct form_uses *uses) {
    struct making making = {kernels, probes, number, form, uses, .data = data_for(form)};
    choose_results(&making);
    add_copies(&making, false);
    if (waits_for_others(uses))
        add_copies(&making, true);
    for (uint8_t to = 0; to < uses->count; to++)
        if (uses->operands[to].writes && in_register(uses->operands[to].kind))
            add_to_operand(&making, to);
    if (uses->reads & ~(1u << RSP) && uses->writes & ~(1u << RSP) && !uses->hidden_memory)
        add_hidden(&making);
    if (uses->flags & FORM_WRITES_FLAGS)
        add_to_all_flags(&making);
}

void form_kernels_transfer(struct kernel_list *kernels, struct form_probes *probes) {
    const struct form_uses uses = {.legacy = true};
    struct making making = {kernels, probes, .form = FORM_NONE, .uses = &uses,
                            .data = data_for(FORM_NONE)};
    choose_results(&making);
    begin(&making, LINKS, (struct form_probe){.kind = PROBE_TRANSFER});
    for (unsigned turn = 0; turn < LINKS; turn++) {
        move_to_vector(&making, 0, RBX);
        move_to_general(&making, RBX, 0);
    }
    end(&making);
}

double form_probe_cycles(const struct form_probe *probe, double cycles, double transfer) {
    return cycles / probe->copies - probe->partners - probe->transfers * transfer;
}
