/* The encoder chooses the encoding; that it is of the form asked for is checked by reading it back.
 */
#include "calibrate/form_code.h"

#include "isa/insn.h"

enum { RSP = 4 };

static const char *const REASONS[FORM_REASONS] = {
    [FORM_MEASURABLE] = "measurable",
    [FORM_NOT_ENCODED] = "not encoded",
    [FORM_BRANCHES] = "branches",
    [FORM_SYSTEM] = "of the system or serialising",
    [FORM_REPEATS] = "string instructions",
    [FORM_OTHER_REGISTERS] = "of the x87 stack, MMX and other registers",
    [FORM_GATHERS] = "gathers, which use their mask up",
};

const char *form_reason_text(enum form_reason reason) {
    return REASONS[reason];
}

/* ---- kinds ---- */

bool form_kind_is_general(unsigned kind) {
    return kind >= FORM_R8 && kind <= FORM_R64;
}

bool form_kind_is_vector(unsigned kind) {
    return kind >= FORM_XMM && kind <= FORM_ZMM;
}

bool form_kind_is_memory(unsigned kind) {
    return kind >= FORM_M && kind <= FORM_M64_BROADCAST;
}

unsigned form_kind_bits(unsigned kind) {
    static const uint16_t BITS[FORM_COUNT] = {
        [FORM_M8] = 8,
        [FORM_M16] = 16,
        [FORM_M32] = 32,
        [FORM_M64] = 64,
        [FORM_M80] = 80,
        [FORM_M128] = 128,
        [FORM_M256] = 256,
        [FORM_M512] = 512,
        [FORM_M16_BROADCAST] = 16,
        [FORM_M32_BROADCAST] = 32,
        [FORM_M64_BROADCAST] = 64,
    };
    return BITS[kind];
}

ZydisRegister form_register(unsigned kind, unsigned number) {
    switch (kind) {
    case FORM_R8: /* not ah to bh: number 4 to 7 are spl to dil */
        return number < 4 ? ZYDIS_REGISTER_AL + number : ZYDIS_REGISTER_SPL + (number - 4);
    case FORM_R16:
        return ZYDIS_REGISTER_AX + number;
    case FORM_R32:
        return ZYDIS_REGISTER_EAX + number;
    case FORM_R64:
        return ZYDIS_REGISTER_RAX + number;
    case FORM_XMM:
        return ZYDIS_REGISTER_XMM0 + number;
    case FORM_YMM:
        return ZYDIS_REGISTER_YMM0 + number;
    case FORM_ZMM:
        return ZYDIS_REGISTER_ZMM0 + number;
    case FORM_K:
        return ZYDIS_REGISTER_K0 + number % 8;
    default:
        return ZYDIS_REGISTER_NONE;
    }
}

/* ---- encoding ---- */

static int64_t immediate_of(unsigned kind) {
    switch (kind) {
    case FORM_I8:
        return 5;
    case FORM_I16:
        return 0x1234;
    case FORM_I32:
        return 0x12345678;
    case FORM_I64:
        return 0x123456789abcdef0;
    default:
        return 1;
    }
}

/* Of an address that is data, lea's: more than processors add while they rename. */
enum { DISPLACEMENT = 2048 };

static ZydisEncoderOperand address_operand(unsigned parts, const struct form_choice *choice) {
    const ZydisRegister base =
        parts & FORM_PART_BASE ? ZYDIS_REGISTER_RAX + choice->base : ZYDIS_REGISTER_NONE;
    const ZydisRegister index =
        parts & FORM_PART_INDEX ? ZYDIS_REGISTER_RAX + choice->index : ZYDIS_REGISTER_NONE;
    const unsigned scale = parts & FORM_PART_SCALE ? 4 : index != ZYDIS_REGISTER_NONE;
    return operand_memory(base, index, scale, parts & FORM_PART_DISPLACEMENT ? DISPLACEMENT : 0,
                          64);
}

static ZydisEncoderOperand operand_of(unsigned kind, unsigned number,
                                      const struct form_choice *choice) {
    if (kind >= FORM_ADDRESS)
        return address_operand(kind - FORM_ADDRESS, choice);
    if (form_kind_is_memory(kind))
        return operand_memory(ZYDIS_REGISTER_RAX + choice->base, ZYDIS_REGISTER_NONE, 0,
                              choice->displacement, form_kind_bits(kind));
    if (kind == FORM_CL)
        return REG(CL);
    if ((kind >= FORM_I8 && kind <= FORM_I64) || kind == FORM_ONE)
        return operand_immediate(immediate_of(kind));
    return operand_register(form_register(kind, number));
}

static ZydisBroadcastMode broadcast_of(const struct form_parts *parts, unsigned bits) {
    unsigned vector = 128;
    for (unsigned i = 0; i < parts->operand_count; i++)
        if (parts->operands[i] == FORM_ZMM)
            vector = 512;
        else if (parts->operands[i] == FORM_YMM && vector < 256)
            vector = 256;
    switch (vector / bits) {
    case 2:
        return ZYDIS_BROADCAST_MODE_1_TO_2;
    case 4:
        return ZYDIS_BROADCAST_MODE_1_TO_4;
    case 8:
        return ZYDIS_BROADCAST_MODE_1_TO_8;
    case 16:
        return ZYDIS_BROADCAST_MODE_1_TO_16;
    default:
        return ZYDIS_BROADCAST_MODE_1_TO_32;
    }
}

static void request_of(insn_form form, const struct form_choice *choice,
                       ZydisEncoderRequest *request) {
    const struct form_parts parts = form_parts(form);
    *request = (ZydisEncoderRequest){.machine_mode = ZYDIS_MACHINE_MODE_LONG_64,
                                     .mnemonic = (ZydisMnemonic)parts.mnemonic};
    if (parts.prefix == FORM_PREFIX_LOCK)
        request->prefixes = ZYDIS_ATTRIB_HAS_LOCK;
    for (unsigned i = 0; i < parts.operand_count; i++) {
        const unsigned kind = parts.operands[i];
        request->operands[request->operand_count++] = operand_of(kind, choice->operand[i], choice);
        if (kind >= FORM_M16_BROADCAST && kind <= FORM_M64_BROADCAST)
            request->evex.broadcast = broadcast_of(&parts, form_kind_bits(kind));
        if (i == 0 && parts.mask)
            request->operands[request->operand_count++] = REG(K1);
    }
    request->evex.zeroing_mask = parts.mask == FORM_MASK_ZEROING;
}

void form_put(struct assembler *code, insn_form form, const struct form_choice *choice) {
    ZydisEncoderRequest request;
    request_of(form, choice, &request);
    assembler_request(code, &request);
}

/* ---- what it does ---- */

static bool is_other(unsigned kind) {
    return kind == FORM_MM || kind == FORM_ST || (kind >= FORM_TMM && kind <= FORM_DR) ||
           kind == FORM_M80 || kind == FORM_M;
}

static enum form_reason refuse(insn_form form, const struct form_parts *parts) {
    if (parts->prefix == FORM_PREFIX_REP || parts->prefix == FORM_PREFIX_REPNE)
        return FORM_REPEATS;
    for (unsigned i = 0; i < parts->operand_count; i++) {
        if (is_other(parts->operands[i]))
            return FORM_OTHER_REGISTERS;
        if (parts->operands[i] >= FORM_VMX && parts->operands[i] <= FORM_VMZ)
            return FORM_GATHERS;
        if (parts->operands[i] == FORM_REL)
            return FORM_BRANCHES;
    }
    return form == FORM_NONE ? FORM_NOT_ENCODED : FORM_MEASURABLE;
}

static enum form_reason refuse_insn(const struct insn *insn) {
    if (insn->branch != BRANCH_NONE)
        return FORM_BRANCHES;
    if (insn->flags & (INSN_SERIALISING | INSN_FLUSHING | INSN_SYSCALL | INSN_TRAP) ||
        insn->operation == OP_SYSTEM)
        return FORM_SYSTEM;
    return FORM_MEASURABLE;
}

static void note_hidden(const ZydisDecodedOperand *operand, struct form_uses *uses) {
    const bool reads = operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
    const bool writes = operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
    if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
        uses->hidden_memory = true;
    if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER)
        return;
    const ZydisRegister whole =
        ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, operand->reg.value);
    if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15)
        return;
    const uint16_t bit = (uint16_t)(1u << (whole - ZYDIS_REGISTER_RAX));
    uses->reads |= reads ? bit : 0;
    uses->writes |= writes ? bit : 0;
}

static void note_flags(const ZydisDecodedInstruction *insn, struct form_uses *uses) {
    const uint32_t all = ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_ZF | ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF;
    if (!insn->cpu_flags)
        return;
    const uint32_t written = insn->cpu_flags->modified | insn->cpu_flags->set_0 |
                             insn->cpu_flags->set_1 | insn->cpu_flags->undefined;
    uses->flags = (insn->cpu_flags->tested & all ? FORM_READS_FLAGS : 0) |
                  (written & all ? FORM_WRITES_FLAGS : 0) |
                  ((written & all) == all ? FORM_WRITES_ALL_FLAGS : 0);
    uses->zero_flag = written & ZYDIS_CPUFLAG_ZF;
}

static void note_uses(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *operands,
                      const struct form_parts *parts, struct form_uses *uses) {
    *uses = (struct form_uses){.legacy = insn->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY};
    for (unsigned i = 0; i < insn->operand_count; i++) {
        const ZydisDecodedOperand *operand = &operands[i];
        if (operand->encoding == ZYDIS_OPERAND_ENCODING_MASK)
            continue;
        if (i >= insn->operand_count_visible || uses->count == parts->operand_count) {
            note_hidden(operand, uses);
            continue;
        }
        struct form_use *use = &uses->operands[uses->count];
        use->kind = parts->operands[uses->count++];
        use->reads = operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
        use->writes = operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
        /* The rest of a register that is written in part stays. */
        if (use->writes && (use->kind == FORM_R8 || use->kind == FORM_R16 ||
                            (parts->mask == FORM_MASK_MERGING && uses->count == 1)))
            use->reads = true;
        if (use->writes && use->kind == FORM_XMM && uses->legacy && operand->size < 128)
            use->reads = true;
        if (use->kind == FORM_CL)
            use->reads = true;
    }
    note_flags(insn, uses);
}

enum form_reason form_examine(insn_form form, struct form_uses *uses) {
    const struct form_parts parts = form_parts(form);
    enum form_reason reason = refuse(form, &parts);
    if (reason != FORM_MEASURABLE)
        return reason;
    /* Registers without a part in what is hidden: rbx, r8 to r10. */
    const struct form_choice choice = {{3, 8, 9, 10, 3}, 14, 13, 0};
    ZydisEncoderRequest request;
    uint8_t bytes[ZYDIS_MAX_INSTRUCTION_LENGTH];
    ZyanUSize size = sizeof bytes;
    request_of(form, &choice, &request);
    struct insn insn;
    if (!ZYAN_SUCCESS(ZydisEncoderEncodeInstruction(&request, bytes, &size)) ||
        insn_form_of(ISA_X86_64, bytes, size) != form ||
        !insn_decode(ISA_X86_64, bytes, size, &insn))
        return FORM_NOT_ENCODED;
    reason = refuse_insn(&insn);
    ZydisDecoder decoder;
    ZydisDecodedInstruction decoded;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (reason == FORM_MEASURABLE &&
        !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, size, &decoded, operands)))
        return FORM_NOT_ENCODED;
    if (reason == FORM_MEASURABLE)
        note_uses(&decoded, operands, &parts, uses);
    if (reason == FORM_MEASURABLE && uses->hidden_memory && !(uses->writes & 1u << RSP))
        return FORM_REPEATS;
    return reason;
}
