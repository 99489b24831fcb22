/* The number of a form holds, from the lowest bit: the mnemonic (11 bits, of Zydis), the kinds of
 * its operands in the order of their text (6 bits each), prefix and mask (2 bits each). Hidden
 * operands follow from the mnemonic and are left out; a mask is no operand of its own. */
#include "isa/form.h"

#include <stdio.h>
#include <string.h>

#include "isa/x86_64_view.h"

enum { MNEMONIC_BITS = 11, KIND_BITS = 6, PREFIX_AT = 41, MASK_AT = 43 };
static_assert(ZYDIS_MNEMONIC_MAX_VALUE < 1 << MNEMONIC_BITS, "mnemonics fit");
static_assert(MNEMONIC_BITS + FORM_OPERANDS * KIND_BITS <= PREFIX_AT, "operands fit");

enum kind {
    KIND_NONE,
    KIND_R8,
    KIND_R16,
    KIND_R32,
    KIND_R64,
    KIND_MM,
    KIND_XMM,
    KIND_YMM,
    KIND_ZMM,
    KIND_K,
    KIND_ST,
    KIND_TMM,
    KIND_BND,
    KIND_SR,
    KIND_CR,
    KIND_DR,
    KIND_I8,
    KIND_I16,
    KIND_I32,
    KIND_I64,
    KIND_ONE,
    KIND_CL,
    KIND_REL,
    KIND_M,
    KIND_M8,
    KIND_M16,
    KIND_M32,
    KIND_M64,
    KIND_M80,
    KIND_M128,
    KIND_M256,
    KIND_M512,
    KIND_M16_BROADCAST,
    KIND_M32_BROADCAST,
    KIND_M64_BROADCAST,
    KIND_VMX,
    KIND_VMY,
    KIND_VMZ,
    KIND_ADDRESS, /* and the bits of enum address_part */
    KIND_COUNT = KIND_ADDRESS + 16
};
enum address_part { PART_DISPLACEMENT = 1, PART_BASE = 2, PART_INDEX = 4, PART_SCALE = 8 };
static_assert(KIND_COUNT <= 1 << KIND_BITS, "kinds fit");

static const char *const WORDS[KIND_COUNT] = {
    [KIND_R8] = "r8",
    [KIND_R16] = "r16",
    [KIND_R32] = "r32",
    [KIND_R64] = "r64",
    [KIND_MM] = "mm",
    [KIND_XMM] = "xmm",
    [KIND_YMM] = "ymm",
    [KIND_ZMM] = "zmm",
    [KIND_K] = "k",
    [KIND_ST] = "st",
    [KIND_TMM] = "tmm",
    [KIND_BND] = "bnd",
    [KIND_SR] = "sr",
    [KIND_CR] = "cr",
    [KIND_DR] = "dr",
    [KIND_I8] = "i8",
    [KIND_I16] = "i16",
    [KIND_I32] = "i32",
    [KIND_I64] = "i64",
    [KIND_ONE] = "1",
    [KIND_CL] = "cl",
    [KIND_REL] = "rel",
    [KIND_M] = "m",
    [KIND_M8] = "m8",
    [KIND_M16] = "m16",
    [KIND_M32] = "m32",
    [KIND_M64] = "m64",
    [KIND_M80] = "m80",
    [KIND_M128] = "m128",
    [KIND_M256] = "m256",
    [KIND_M512] = "m512",
    [KIND_M16_BROADCAST] = "m16bcst",
    [KIND_M32_BROADCAST] = "m32bcst",
    [KIND_M64_BROADCAST] = "m64bcst",
    [KIND_VMX] = "vmx",
    [KIND_VMY] = "vmy",
    [KIND_VMZ] = "vmz",
    [KIND_ADDRESS + PART_DISPLACEMENT] = "[d]",
    [KIND_ADDRESS + PART_BASE] = "[b]",
    [KIND_ADDRESS + PART_BASE + PART_DISPLACEMENT] = "[b+d]",
    [KIND_ADDRESS + PART_INDEX] = "[i]",
    [KIND_ADDRESS + PART_INDEX + PART_DISPLACEMENT] = "[i+d]",
    [KIND_ADDRESS + PART_INDEX + PART_BASE] = "[b+i]",
    [KIND_ADDRESS + PART_INDEX + PART_BASE + PART_DISPLACEMENT] = "[b+i+d]",
    [KIND_ADDRESS + PART_INDEX + PART_SCALE] = "[i*s]",
    [KIND_ADDRESS + PART_INDEX + PART_SCALE + PART_DISPLACEMENT] = "[i*s+d]",
    [KIND_ADDRESS + PART_INDEX + PART_SCALE + PART_BASE] = "[b+i*s]",
    [KIND_ADDRESS + PART_INDEX + PART_SCALE + PART_BASE + PART_DISPLACEMENT] = "[b+i*s+d]",
};

enum { PREFIX_NONE, PREFIX_LOCK, PREFIX_REP, PREFIX_REPNE, PREFIX_COUNT };
static const char *const PREFIXES[PREFIX_COUNT] = {"", "lock", "rep", "repne"};
enum { MASK_NONE, MASK_MERGING, MASK_ZEROING, MASK_COUNT };
static const char *const MASKS[MASK_COUNT] = {"", "{k}", "{k}{z}"};

static insn_form with_kind(insn_form form, unsigned at, unsigned kind) {
    return form | (insn_form)kind << (MNEMONIC_BITS + KIND_BITS * at);
}

static unsigned kind_at(insn_form form, unsigned at) {
    return form >> (MNEMONIC_BITS + KIND_BITS * at) & ((1u << KIND_BITS) - 1);
}

/* ---- of an instruction ---- */

static unsigned register_kind(const ZydisDecodedOperand *operand, bool first) {
    switch (ZydisRegisterGetClass(operand->reg.value)) {
    case ZYDIS_REGCLASS_GPR8:
        return operand->visibility == ZYDIS_OPERAND_VISIBILITY_IMPLICIT && !first &&
                       operand->reg.value == ZYDIS_REGISTER_CL
                   ? KIND_CL
                   : KIND_R8;
    case ZYDIS_REGCLASS_GPR16:
        return KIND_R16;
    case ZYDIS_REGCLASS_GPR32:
        return KIND_R32;
    case ZYDIS_REGCLASS_GPR64:
        return KIND_R64;
    case ZYDIS_REGCLASS_MMX:
        return KIND_MM;
    case ZYDIS_REGCLASS_XMM:
        return KIND_XMM;
    case ZYDIS_REGCLASS_YMM:
        return KIND_YMM;
    case ZYDIS_REGCLASS_ZMM:
        return KIND_ZMM;
    case ZYDIS_REGCLASS_MASK:
        return KIND_K;
    case ZYDIS_REGCLASS_X87:
        return KIND_ST;
    case ZYDIS_REGCLASS_TMM:
        return KIND_TMM;
    case ZYDIS_REGCLASS_BOUND:
        return KIND_BND;
    case ZYDIS_REGCLASS_SEGMENT:
        return KIND_SR;
    case ZYDIS_REGCLASS_CONTROL:
        return KIND_CR;
    case ZYDIS_REGCLASS_DEBUG:
        return KIND_DR;
    default:
        return KIND_NONE;
    }
}

static unsigned width_kind(unsigned bits) {
    static const struct {
        unsigned bits;
        enum kind kind;
    } widths[] = {{8, KIND_M8},   {16, KIND_M16},   {32, KIND_M32},   {64, KIND_M64},
                  {80, KIND_M80}, {128, KIND_M128}, {256, KIND_M256}, {512, KIND_M512}};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        if (widths[i].bits == bits)
            return widths[i].kind;
    return KIND_M;
}

static unsigned address_kind(const ZydisDecodedOperandMem *memory) {
    const bool base = memory->base != ZYDIS_REGISTER_NONE && memory->base != ZYDIS_REGISTER_RIP &&
                      memory->base != ZYDIS_REGISTER_EIP;
    const bool index = memory->index != ZYDIS_REGISTER_NONE;
    const bool displacement = memory->disp.value != 0 || (!base && !index);
    return KIND_ADDRESS + (displacement ? PART_DISPLACEMENT : 0) + (base ? PART_BASE : 0) +
           (index ? PART_INDEX : 0) + (index && memory->scale > 1 ? PART_SCALE : 0);
}

static unsigned memory_kind(const ZydisDecodedInstruction *insn,
                            const ZydisDecodedOperand *operand) {
    if (operand->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
        return address_kind(&operand->mem);
    if (operand->mem.type == ZYDIS_MEMOP_TYPE_VSIB)
        switch (ZydisRegisterGetClass(operand->mem.index)) {
        case ZYDIS_REGCLASS_XMM:
            return KIND_VMX;
        case ZYDIS_REGCLASS_YMM:
            return KIND_VMY;
        default:
            return KIND_VMZ;
        }
    if (insn->avx.broadcast.mode != ZYDIS_BROADCAST_MODE_INVALID && !insn->avx.broadcast.is_static)
        switch (operand->element_size) {
        case 16:
            return KIND_M16_BROADCAST;
        case 32:
            return KIND_M32_BROADCAST;
        default:
            return KIND_M64_BROADCAST;
        }
    return width_kind(operand->size);
}

static unsigned immediate_kind(const ZydisDecodedOperand *operand) {
    if (operand->imm.is_relative)
        return KIND_REL;
    if (operand->visibility == ZYDIS_OPERAND_VISIBILITY_IMPLICIT)
        return KIND_ONE;
    return operand->size <= 8    ? KIND_I8
           : operand->size <= 16 ? KIND_I16
           : operand->size <= 32 ? KIND_I32
                                 : KIND_I64;
}

insn_form insn_form_of(enum isa isa, const uint8_t *bytes, size_t size) {
    struct zydis_view view;
    if (isa != ISA_X86_64 || !x86_64_view(bytes, size, &view))
        return FORM_NONE;
    const ZydisDecodedInstruction *insn = &view.insn;
    insn_form form = (insn_form)insn->mnemonic;
    unsigned count = 0;
    for (unsigned i = 0; i < insn->operand_count_visible && count < FORM_OPERANDS; i++) {
        const ZydisDecodedOperand *operand = &view.operand[i];
        unsigned kind = KIND_NONE;
        if (operand->encoding == ZYDIS_OPERAND_ENCODING_MASK)
            continue;
        if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER)
            kind = register_kind(operand, i == 0);
        else if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
            kind = memory_kind(insn, operand);
        else if (operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
            kind = immediate_kind(operand);
        if (kind != KIND_NONE)
            form = with_kind(form, count++, kind);
    }
    const ZydisInstructionAttributes attributes = insn->attributes;
    const unsigned prefix = attributes & ZYDIS_ATTRIB_HAS_LOCK ? PREFIX_LOCK
                            : attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE)
                                ? PREFIX_REP
                            : attributes & ZYDIS_ATTRIB_HAS_REPNE ? PREFIX_REPNE
                                                                  : PREFIX_NONE;
    const unsigned mask = insn->avx.mask.mode <= ZYDIS_MASK_MODE_DISABLED ? MASK_NONE
                          : insn->avx.mask.mode == ZYDIS_MASK_MODE_ZEROING ||
                                  insn->avx.mask.mode == ZYDIS_MASK_MODE_CONTROL_ZEROING
                              ? MASK_ZEROING
                              : MASK_MERGING;
    return form | (insn_form)prefix << PREFIX_AT | (insn_form)mask << MASK_AT;
}

/* ---- as text ---- */

void form_text(insn_form form, char text[FORM_TEXT_SIZE]) {
    const char *mnemonic =
        ZydisMnemonicGetString((ZydisMnemonic)(form & ((1u << MNEMONIC_BITS) - 1)));
    const unsigned prefix = form >> PREFIX_AT & 3, mask = form >> MASK_AT & 3;
    size_t length = 0;
    text[0] = 0;
    if (form == FORM_NONE || !mnemonic || mask >= MASK_COUNT)
        return;
    length = (size_t)snprintf(text, FORM_TEXT_SIZE, "%s%s%s", PREFIXES[prefix], prefix ? " " : "",
                              mnemonic);
    for (unsigned i = 0; i < FORM_OPERANDS && length < FORM_TEXT_SIZE; i++) {
        const char *word = kind_at(form, i) < KIND_COUNT ? WORDS[kind_at(form, i)] : NULL;
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
    for (unsigned kind = KIND_NONE + 1; kind < KIND_COUNT; kind++)
        if (WORDS[kind] && word_is(word, WORDS[kind]))
            return at == 0 && kind == KIND_ONE ? KIND_NONE : kind; /* alone it is another field */
    return KIND_NONE;
}

/* Takes the mask off the end of a word. */
static unsigned split_mask(struct word *word) {
    for (unsigned mask = MASK_COUNT - 1; mask > MASK_NONE; mask--) {
        const size_t length = strlen(MASKS[mask]);
        if (word->length > length &&
            memcmp(word->text + word->length - length, MASKS[mask], length) == 0) {
            word->length -= length;
            return mask;
        }
    }
    return MASK_NONE;
}

insn_form form_parse(const char *text, const char **end) {
    struct word word = next_word(text);
    insn_form form = FORM_NONE;
    for (unsigned prefix = PREFIX_LOCK; prefix < PREFIX_COUNT; prefix++)
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
        const unsigned mask = at == 0 ? split_mask(&word) : MASK_NONE;
        const unsigned kind = find_kind(word, at);
        if (kind == KIND_NONE && at == 0)
            return form; /* none */
        if (kind == KIND_NONE) {
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
