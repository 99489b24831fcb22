/* The number of a form holds, from the lowest bit: the mnemonic (11 bits, of Zydis), the kinds of
 * its operands in the order of their text (6 bits each), prefix and mask (2 bits each). Hidden
 * operands follow from the mnemonic and are left out; a mask is no operand of its own. */
#include "isa/form_parts.h"

#include <stdio.h>
#include <string.h>

#include "isa/x86_64_view.h"
#include "util/array.h"

enum { MNEMONIC_BITS = 11, KIND_BITS = 6, PREFIX_AT = 41, MASK_AT = 43 };
static_assert(ZYDIS_MNEMONIC_MAX_VALUE < 1 << MNEMONIC_BITS, "mnemonics fit");
static_assert(MNEMONIC_BITS + FORM_OPERANDS * KIND_BITS <= PREFIX_AT, "operands fit");

static_assert(FORM_COUNT <= 1 << KIND_BITS, "kinds fit");

static const char *const WORDS[FORM_COUNT] = {
    [FORM_R8] = "r8",
    [FORM_R16] = "r16",
    [FORM_R32] = "r32",
    [FORM_R64] = "r64",
    [FORM_MM] = "mm",
    [FORM_XMM] = "xmm",
    [FORM_YMM] = "ymm",
    [FORM_ZMM] = "zmm",
    [FORM_K] = "k",
    [FORM_ST] = "st",
    [FORM_TMM] = "tmm",
    [FORM_BND] = "bnd",
    [FORM_SR] = "sr",
    [FORM_CR] = "cr",
    [FORM_DR] = "dr",
    [FORM_I8] = "i8",
    [FORM_I16] = "i16",
    [FORM_I32] = "i32",
    [FORM_I64] = "i64",
    [FORM_ONE] = "1",
    [FORM_CL] = "cl",
    [FORM_REL] = "rel",
    [FORM_M] = "m",
    [FORM_M8] = "m8",
    [FORM_M16] = "m16",
    [FORM_M32] = "m32",
    [FORM_M64] = "m64",
    [FORM_M80] = "m80",
    [FORM_M128] = "m128",
    [FORM_M256] = "m256",
    [FORM_M512] = "m512",
    [FORM_M16_BROADCAST] = "m16bcst",
    [FORM_M32_BROADCAST] = "m32bcst",
    [FORM_M64_BROADCAST] = "m64bcst",
    [FORM_VMX] = "vmx",
    [FORM_VMY] = "vmy",
    [FORM_VMZ] = "vmz",
    [FORM_ADDRESS + FORM_PART_DISPLACEMENT] = "[d]",
    [FORM_ADDRESS + FORM_PART_BASE] = "[b]",
    [FORM_ADDRESS + FORM_PART_BASE + FORM_PART_DISPLACEMENT] = "[b+d]",
    [FORM_ADDRESS + FORM_PART_INDEX] = "[i]",
    [FORM_ADDRESS + FORM_PART_INDEX + FORM_PART_DISPLACEMENT] = "[i+d]",
    [FORM_ADDRESS + FORM_PART_INDEX + FORM_PART_BASE] = "[b+i]",
    [FORM_ADDRESS + FORM_PART_INDEX + FORM_PART_BASE + FORM_PART_DISPLACEMENT] = "[b+i+d]",
    [FORM_ADDRESS + FORM_PART_INDEX + FORM_PART_SCALE] = "[i*s]",
    [FORM_ADDRESS + FORM_PART_INDEX + FORM_PART_SCALE + FORM_PART_DISPLACEMENT] = "[i*s+d]",
    [FORM_ADDRESS + FORM_PART_INDEX + FORM_PART_SCALE + FORM_PART_BASE] = "[b+i*s]",
    [FORM_ADDRESS + FORM_PART_INDEX + FORM_PART_SCALE + FORM_PART_BASE + FORM_PART_DISPLACEMENT] =
        "[b+i*s+d]",
};

static const char *const PREFIXES[FORM_PREFIX_COUNT] = {"", "lock", "rep", "repne"};
static const char *const MASKS[FORM_MASK_COUNT] = {"", "{k}", "{k}{z}"};

static insn_form with_kind(insn_form form, unsigned at, unsigned kind) {
    return form | (insn_form)kind << (MNEMONIC_BITS + KIND_BITS * at);
}

static unsigned kind_at(insn_form form, unsigned at) {
    return form >> (MNEMONIC_BITS + KIND_BITS * at) & ((1u << KIND_BITS) - 1);
}

struct form_parts form_parts(insn_form form) {
    struct form_parts parts = {.mnemonic = form & ((1u << MNEMONIC_BITS) - 1),
                               .prefix = form >> PREFIX_AT & 3,
                               .mask = form >> MASK_AT & 3};
    while (parts.operand_count < FORM_OPERANDS && kind_at(form, parts.operand_count)) {
        parts.operands[parts.operand_count] = (uint8_t)kind_at(form, parts.operand_count);
        parts.operand_count++;
    }
    return parts;
}

/* ---- of an instruction ---- */

static unsigned register_kind(const ZydisDecodedOperand *operand, bool first) {
    switch (ZydisRegisterGetClass(operand->reg.value)) {
    case ZYDIS_REGCLASS_GPR8:
        return operand->visibility == ZYDIS_OPERAND_VISIBILITY_IMPLICIT && !first &&
                       operand->reg.value == ZYDIS_REGISTER_CL
                   ? FORM_CL
                   : FORM_R8;
    case ZYDIS_REGCLASS_GPR16:
        return FORM_R16;
    case ZYDIS_REGCLASS_GPR32:
        return FORM_R32;
    case ZYDIS_REGCLASS_GPR64:
        return FORM_R64;
    case ZYDIS_REGCLASS_MMX:
        return FORM_MM;
    case ZYDIS_REGCLASS_XMM:
        return FORM_XMM;
    case ZYDIS_REGCLASS_YMM:
        return FORM_YMM;
    case ZYDIS_REGCLASS_ZMM:
        return FORM_ZMM;
    case ZYDIS_REGCLASS_MASK:
        return FORM_K;
    case ZYDIS_REGCLASS_X87:
        return FORM_ST;
    case ZYDIS_REGCLASS_TMM:
        return FORM_TMM;
    case ZYDIS_REGCLASS_BOUND:
        return FORM_BND;
    case ZYDIS_REGCLASS_SEGMENT:
        return FORM_SR;
    case ZYDIS_REGCLASS_CONTROL:
        return FORM_CR;
    case ZYDIS_REGCLASS_DEBUG:
        return FORM_DR;
    default:
        return FORM_NO_OPERAND;
    }
}

static unsigned width_kind(unsigned bits) {
    static const struct {
        unsigned bits;
        enum form_kind kind;
    } widths[] = {{8, FORM_M8},   {16, FORM_M16},   {32, FORM_M32},   {64, FORM_M64},
                  {80, FORM_M80}, {128, FORM_M128}, {256, FORM_M256}, {512, FORM_M512}};
    const size_t count = sizeof widths / sizeof *widths;
    const size_t i = index_where(k, count, widths[k].bits == bits);
    return i < count ? widths[i].kind : FORM_M;
}

static unsigned address_kind(const ZydisDecodedOperandMem *memory) {
    const bool base = memory->base != ZYDIS_REGISTER_NONE && memory->base != ZYDIS_REGISTER_RIP &&
                      memory->base != ZYDIS_REGISTER_EIP;
    const bool index = memory->index != ZYDIS_REGISTER_NONE;
    const bool displacement = memory->disp.value != 0 || (!base && !index);
    return FORM_ADDRESS + (displacement ? FORM_PART_DISPLACEMENT : 0) +
           (base ? FORM_PART_BASE : 0) + (index ? FORM_PART_INDEX : 0) +
           (index && memory->scale > 1 ? FORM_PART_SCALE : 0);
}

static unsigned memory_kind(const ZydisDecodedInstruction *insn,
                            const ZydisDecodedOperand *operand) {
    if (operand->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
        return address_kind(&operand->mem);
    if (operand->mem.type == ZYDIS_MEMOP_TYPE_VSIB)
        switch (ZydisRegisterGetClass(operand->mem.index)) {
        case ZYDIS_REGCLASS_XMM:
            return FORM_VMX;
        case ZYDIS_REGCLASS_YMM:
            return FORM_VMY;
        default:
            return FORM_VMZ;
        }
    if (insn->avx.broadcast.mode != ZYDIS_BROADCAST_MODE_INVALID && !insn->avx.broadcast.is_static)
        switch (operand->element_size) {
        case 16:
            return FORM_M16_BROADCAST;
        case 32:
            return FORM_M32_BROADCAST;
        default:
            return FORM_M64_BROADCAST;
        }
    return width_kind(operand->size);
}

static unsigned immediate_kind(const ZydisDecodedOperand *operand) {
    if (operand->imm.is_relative)
        return FORM_REL;
    if (operand->visibility == ZYDIS_OPERAND_VISIBILITY_IMPLICIT)
        return FORM_ONE;
    return operand->size <= 8    ? FORM_I8
           : operand->size <= 16 ? FORM_I16
           : operand->size <= 32 ? FORM_I32
                                 : FORM_I64;
}

uint64_t x86_64_form(const struct zydis_view *view) {
    const ZydisDecodedInstruction *insn = &view->insn;
    insn_form form = (insn_form)insn->mnemonic;
    unsigned count = 0;
    for (unsigned i = 0; i < insn->operand_count_visible && count < FORM_OPERANDS; i++) {
        const ZydisDecodedOperand *operand = &view->operand[i];
        unsigned kind = FORM_NO_OPERAND;
        if (operand->encoding == ZYDIS_OPERAND_ENCODING_MASK)
            continue;
        if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER)
            kind = register_kind(operand, i == 0);
        else if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
            kind = memory_kind(insn, operand);
        else if (operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
            kind = immediate_kind(operand);
        if (kind != FORM_NO_OPERAND)
            form = with_kind(form, count++, kind);
    }
    const ZydisInstructionAttributes attributes = insn->attributes;
    const unsigned prefix = attributes & ZYDIS_ATTRIB_HAS_LOCK ? FORM_PREFIX_LOCK
                            : attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE)
                                ? FORM_PREFIX_REP
                            : attributes & ZYDIS_ATTRIB_HAS_REPNE ? FORM_PREFIX_REPNE
                                                                  : FORM_PREFIX_NONE;
    const unsigned mask = insn->avx.mask.mode <= ZYDIS_MASK_MODE_DISABLED ? FORM_MASK_NONE
                          : insn->avx.mask.mode == ZYDIS_MASK_MODE_ZEROING ||
                                  insn->avx.mask.mode == ZYDIS_MASK_MODE_CONTROL_ZEROING
                              ? FORM_MASK_ZEROING
                              : FORM_MASK_MERGING;
    return form | (insn_form)prefix << PREFIX_AT | (insn_form)mask << MASK_AT;
}

insn_form insn_form_of(enum isa isa, const uint8_t *bytes, size_t size) {
    struct zydis_view view;
    return isa == ISA_X86_64 && x86_64_view(bytes, size, &view) ? x86_64_form(&view) : FORM_NONE;
}

/* ---- as text ---- */

void form_text(insn_form form, char text[FORM_TEXT_SIZE]) {
    const char *mnemonic =
        ZydisMnemonicGetString((ZydisMnemonic)(form & ((1u << MNEMONIC_BITS) - 1)));
    const unsigned prefix = form >> PREFIX_AT & 3, mask = form >> MASK_AT & 3;
    size_t length = 0;
    text[0] = 0;
    if (form == FORM_NONE || !mnemonic || mask >= FORM_MASK_COUNT)
        return;
    length = (size_t)snprintf(text, FORM_TEXT_SIZE, "%s%s%s", PREFIXES[prefix], prefix ? " " : "",
                              mnemonic);
    for (unsigned i = 0; i < FORM_OPERANDS && length < FORM_TEXT_SIZE; i++) {
        const char *word = kind_at(form, i) < FORM_COUNT ? WORDS[kind_at(form, i)] : NULL;
        if (!word)
            break;
        length += (size_t)snprintf(text + length, FORM_TEXT_SIZE - length, "%s%s%s", i ? ", " : " ",
                                   word, i ? "" : MASKS[mask]);
    }
}

/* A word of text: up to white space, a comma or the end. */
struct word {
    const char *text;
    size_t length;
};

static struct word next_word(const char *text) {
    const char *start = text + strspn(text, " \t");
    return (struct word){start, strcspn(start, " \t,\r\n")};
}

static bool word_is(struct word word, const char *text) {
    return strlen(text) == word.length && memcmp(word.text, text, word.length) == 0;
}

/* Zydis' mnemonics are in the order of their names. */
static unsigned find_mnemonic(struct word word) {
    unsigned low = ZYDIS_MNEMONIC_INVALID + 1, high = ZYDIS_MNEMONIC_MAX_VALUE;
    while (low <= high) {
        const unsigned middle = (low + high) / 2;
        const char *name = ZydisMnemonicGetString((ZydisMnemonic)middle);
        int order = strncmp(word.text, name, word.length);
        if (order == 0)
            order = name[word.length] ? -1 : 0;
        if (order == 0)
            return middle;
        if (order < 0)
            high = middle - 1;
        else
            low = middle + 1;
    }
    return ZYDIS_MNEMONIC_INVALID;
}

/* The kind that a word says, of an operand at this place. */
static unsigned find_kind(struct word word, unsigned at) {
    for (unsigned kind = FORM_NO_OPERAND + 1; kind < FORM_COUNT; kind++)
        if (WORDS[kind] && word_is(word, WORDS[kind]))
            return at == 0 && kind == FORM_ONE ? FORM_NO_OPERAND
                                               : kind; /* alone it is another field */
    return FORM_NO_OPERAND;
}

/* Takes the mask off the end of a word. */
static unsigned split_mask(struct word *word) {
    for (unsigned mask = FORM_MASK_COUNT - 1; mask > FORM_MASK_NONE; mask--) {
        const size_t length = strlen(MASKS[mask]);
        if (word->length > length &&
            memcmp(word->text + word->length - length, MASKS[mask], length) == 0) {
            word->length -= length;
            return mask;
        }
    }
    return FORM_MASK_NONE;
}

insn_form form_parse(const char *text, const char **end) {
    struct word word = next_word(text);
    insn_form form = FORM_NONE;
    for (unsigned prefix = FORM_PREFIX_LOCK; prefix < FORM_PREFIX_COUNT; prefix++)
        if (word_is(word, PREFIXES[prefix])) {
            form |= (insn_form)prefix << PREFIX_AT;
            word = next_word(word.text + word.length);
            break;
        }
    const unsigned mnemonic = find_mnemonic(word);
    *end = word.text;
    if (mnemonic == ZYDIS_MNEMONIC_INVALID)
        return FORM_NONE;
    form |= mnemonic;
    *end = word.text + word.length;
    for (unsigned at = 0; at < FORM_OPERANDS; at++) {
        word = next_word(*end);
        const unsigned mask = at == 0 ? split_mask(&word) : FORM_MASK_NONE;
        const unsigned kind = find_kind(word, at);
        if (kind == FORM_NO_OPERAND && at == 0)
            return form; /* none */
        if (kind == FORM_NO_OPERAND) {
            *end = word.text;
            return FORM_NONE;
        }
        form = with_kind(form, at, kind) | (insn_form)mask << MASK_AT;
        *end = word.text + word.length + strlen(MASKS[mask]);
        if (**end != ',')
            return form;
        ++*end;
    }
    return FORM_NONE;
}
