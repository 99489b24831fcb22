/* x86-64 machine code -> struct insn, and text, by Zydis.
 *
 * Zydis lists every operand, also the implicit ones, with what is done to it. From that list come
 * sources, destinations and memory operands; on top of it stand the rules that make a dependence
 * true or false: narrow writes merge, the flags are two groups (CF and the rest), zero idioms read
 * nothing, no-ops touch nothing, string instructions move their pointers.
 * Segment, control, debug and tile registers carry no dependences here. */
#include <string.h>

#include "isa/isa_internal.h"
#include "isa/x86_64_operation.h"
#include "isa/x86_64_view.h"
#include "util/array.h"

enum {
    RAX = 0,
    RCX = 1,
    RSP = 4,
    R11 = 11,
    OTHER_FLAGS = ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_AF | ZYDIS_CPUFLAG_ZF | ZYDIS_CPUFLAG_SF |
                  ZYDIS_CPUFLAG_OF,
    ANY_READ = ZYDIS_OPERAND_ACTION_READ | ZYDIS_OPERAND_ACTION_CONDREAD,
    ANY_WRITE = ZYDIS_OPERAND_ACTION_WRITE | ZYDIS_OPERAND_ACTION_CONDWRITE
};

/* A write that leaves part of the register as it was: 8 and 16 bits of a general register, the
 * low part of a vector register by a legacy SSE instruction (movss, sqrtsd, movlps ...). */
static bool write_merges(const struct zydis_view *view, const ZydisDecodedOperand *operand) {
    switch (ZydisRegisterGetClass(operand->reg.value)) {
    case ZYDIS_REGCLASS_GPR8:
    case ZYDIS_REGCLASS_GPR16:
        return true;
    case ZYDIS_REGCLASS_XMM:
        return view->insn.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY && operand->size < 128;
    default:
        return false;
    }
}

static void add_register(const struct zydis_view *view, const ZydisDecodedOperand *operand,
                         struct insn *insn) {
    uint8_t reg = x86_64_register(operand->reg.value);
    if (operand->encoding == ZYDIS_OPERAND_ENCODING_MASK && reg == REG_X86_MASK)
        return; /* k0 as a mask means no mask */
    bool writes = operand->actions & ANY_WRITE;
    /* push, pop, call, ret: read for the address only */
    bool stack_pointer = reg == RSP && operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
    bool reads = operand->actions & (ANY_READ | ZYDIS_OPERAND_ACTION_CONDWRITE);
    if (!stack_pointer && (reads || (writes && write_merges(view, operand))))
        insn_add_source(insn, reg);
    if (writes)
        insn_add_destination(insn, reg);
}

/* Bits of an index of a gather or scatter: in their names (vgatherdps, vpscatterqq) the last "d"
 * or "q" before the element type. */
static unsigned gather_index_bits(ZydisMnemonic mnemonic) {
    const char *name = ZydisMnemonicGetString(mnemonic);
    size_t length = strlen(name);
    char element = name[length - 1];
    bool fp = length > 3 && name[length - 2] == 'p' && (element == 's' || element == 'd');
    return name[length - (fp ? 3 : 2)] == 'q' ? 64 : 32;
}

/* Bytes one execution accesses. */
static uint16_t access_size(const struct zydis_view *view, const ZydisDecodedOperand *operand) {
    const ZydisDecodedInstruction *zydis = &view->insn;
    unsigned bits = operand->size;
    if (x86_64_traits(zydis->mnemonic) & TRAIT_SAVES_STATE) {
        bits = 0;
    } else if (operand->mem.type == ZYDIS_MEMOP_TYPE_VSIB) {
        /* One element per lane; as many lanes as both the data and the index vector have. */
        const ZydisDecodedOperand *data = &view->operand[0];
        for (unsigned i = 0; i < zydis->operand_count_visible; i++)
            if (view->operand[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                ZydisRegisterGetClass(view->operand[i].reg.value) != ZYDIS_REGCLASS_MASK) {
                data = &view->operand[i];
                break;
            }
        unsigned lanes = ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, operand->mem.index) /
                         gather_index_bits(zydis->mnemonic);
        unsigned data_lanes = operand->element_size ? data->size / operand->element_size : lanes;
        bits = operand->element_size * (lanes < data_lanes ? lanes : data_lanes);
    } else if (zydis->avx.broadcast.mode != ZYDIS_BROADCAST_MODE_INVALID &&
               !zydis->avx.broadcast.is_static) {
        bits = operand->element_size;
    }
    return (uint16_t)(bits / 8);
}

static void add_memory(const struct zydis_view *view, const ZydisDecodedOperand *operand,
                       struct insn *insn) {
    uint8_t base = x86_64_register(operand->mem.base), index = x86_64_register(operand->mem.index);
    if (operand->mem.type != ZYDIS_MEMOP_TYPE_MEM && operand->mem.type != ZYDIS_MEMOP_TYPE_VSIB) {
        insn_add_source(insn, base); /* lea: the address is the data */
        insn_add_source(insn, index);
        return;
    }
    if (insn->memory_count == INSN_MAX_MEMORY)
        return;
    switch (view->insn.mnemonic) {
    case ZYDIS_MNEMONIC_XLAT:
        index = RAX; /* al */
        break;
    case ZYDIS_MNEMONIC_BT: /* the bit number selects the word, too */
    case ZYDIS_MNEMONIC_BTC:
    case ZYDIS_MNEMONIC_BTR:
    case ZYDIS_MNEMONIC_BTS:
        if (index == REG_NONE && view->operand[1].type == ZYDIS_OPERAND_TYPE_REGISTER)
            index = x86_64_register(view->operand[1].reg.value);
        break;
    default:
        break;
    }
    insn->memory[insn->memory_count++] = (struct insn_memory){
        .size_bytes = access_size(view, operand),
        .is_load = operand->actions & ANY_READ,
        .is_store = operand->actions & ANY_WRITE,
        .base = base,
        .index = index,
    };
}

static void order_loads_first(struct insn *insn) {
    for (unsigned i = 1; i < insn->memory_count; i++)
        for (unsigned j = i; j > 0 && insn->memory[j].is_load && !insn->memory[j - 1].is_load;
             j--) {
            struct insn_memory swap = insn->memory[j];
            insn->memory[j] = insn->memory[j - 1];
            insn->memory[j - 1] = swap;
        }
}

static bool is_immediate(const ZydisDecodedOperand *operand) {
    return operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

/* Shifts and rotates by a masked count of zero leave the flags alone. */
static bool shifts_by_zero(const struct zydis_view *view) {
    if (view->insn.meta.category != ZYDIS_CATEGORY_SHIFT &&
        view->insn.meta.category != ZYDIS_CATEGORY_ROTATE)
        return false;
    const ZydisDecodedOperand *count = &view->operand[view->insn.operand_count_visible - 1];
    return view->insn.operand_count_visible > 1 && is_immediate(count) &&
           (count->imm.value.u & (view->insn.operand_width == 64 ? 63 : 31)) == 0;
}

/* A flag left undefined counts as written beside others of the group that are, so that the group
 * does not merge with its old value, and as unwritten alone (bt, rotates, div): so processors do.
 * An undefined CF goes with the group (bsf, bsr). */
static void add_flags(const struct zydis_view *view, struct insn *insn) {
    const ZydisAccessedFlags *flags = view->insn.cpu_flags;
    if (!flags || shifts_by_zero(view))
        return;
    bool conditional = false;
    for (unsigned i = 0; i < view->insn.operand_count; i++)
        if (view->operand[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
            ZydisRegisterGetClass(view->operand[i].reg.value) == ZYDIS_REGCLASS_FLAGS)
            conditional = view->operand[i].actions & ZYDIS_OPERAND_ACTION_CONDWRITE;
    uint32_t written = flags->modified | flags->set_0 | flags->set_1;
    if ((flags->undefined & ZYDIS_CPUFLAG_CF) && (written & OTHER_FLAGS))
        written |= ZYDIS_CPUFLAG_CF;
    uint32_t kept = OTHER_FLAGS & ~(written | flags->undefined);
    if ((flags->tested & ZYDIS_CPUFLAG_CF) || (conditional && (written & ZYDIS_CPUFLAG_CF)))
        insn_add_source(insn, REG_X86_CF);
    if ((flags->tested & OTHER_FLAGS) || ((written & OTHER_FLAGS) && (kept || conditional)))
        insn_add_source(insn, REG_X86_FLAGS);
    if (flags->tested & ZYDIS_CPUFLAG_DF)
        insn_add_source(insn, REG_X86_DF);
    if (written & ZYDIS_CPUFLAG_CF)
        insn_add_destination(insn, REG_X86_CF);
    if (written & OTHER_FLAGS)
        insn_add_destination(insn, REG_X86_FLAGS);
    if (written & ZYDIS_CPUFLAG_DF)
        insn_add_destination(insn, REG_X86_DF);
}

static void add_string_pointers(const struct zydis_view *view, struct insn *insn) {
    for (unsigned i = 0; i < insn->memory_count; i++) {
        insn_add_source(insn, insn->memory[i].base);
        insn_add_destination(insn, insn->memory[i].base);
    }
    if (view->insn.attributes &
        (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) {
        insn->flags |= INSN_REP;
        insn_add_source(insn, RCX);
        insn_add_destination(insn, RCX);
    }
}

static void set_branch(const struct zydis_view *view, struct insn *insn) {
    const ZydisDecodedOperand *target = &view->operand[0];
    bool direct =
        view->insn.operand_count_visible > 0 && is_immediate(target) && target->imm.is_relative;
    switch (view->insn.meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
        insn->branch = direct ? BRANCH_CONDITIONAL : BRANCH_NONE; /* none: xend */
        break;
    case ZYDIS_CATEGORY_UNCOND_BR:
        insn->branch = direct                 ? BRANCH_JUMP
                       : is_immediate(target) ? BRANCH_NONE /* xabort */
                                              : BRANCH_INDIRECT;
        break;
    case ZYDIS_CATEGORY_CALL:
        insn->branch = direct ? BRANCH_CALL : BRANCH_INDIRECT_CALL;
        break;
    case ZYDIS_CATEGORY_RET:
        insn->branch = view->insn.mnemonic == ZYDIS_MNEMONIC_RET ? BRANCH_RETURN : BRANCH_INDIRECT;
        break;
    default:
        break;
    }
    if (insn->branch != BRANCH_NONE && direct)
        insn->target = (int64_t)insn->length + target->imm.value.s;
}

/* Both inputs are the same register of at least 32 bits, and the old destination is not kept. */
static bool same_inputs(const struct zydis_view *view) {
    const ZydisDecodedInstruction *zydis = &view->insn;
    const ZydisDecodedOperand *operand = view->operand;
    unsigned first = zydis->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY ? 0 : 1;
    if (zydis->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX) {
        first = 2; /* operand 1 is the mask */
        if (zydis->avx.mask.mode != ZYDIS_MASK_MODE_DISABLED)
            return false;
    }
    return zydis->operand_count_visible >= first + 2 &&
           operand[first].type == ZYDIS_OPERAND_TYPE_REGISTER &&
           operand[first + 1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
           operand[first].reg.value == operand[first + 1].reg.value && operand[first].size >= 32;
}

static bool copies_register(const struct zydis_view *view) {
    const ZydisDecodedOperand *operand = view->operand;
    unsigned last = view->insn.operand_count_visible - 1;
    return view->insn.operand_count_visible >= 2 &&
           (x86_64_traits(view->insn.mnemonic) & TRAIT_MOVE) &&
           view->insn.avx.mask.mode <= ZYDIS_MASK_MODE_DISABLED &&
           operand[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
           operand[last].type == ZYDIS_OPERAND_TYPE_REGISTER && operand[0].size >= 32 &&
           x86_64_register(operand[0].reg.value) != REG_NONE &&
           x86_64_register(operand[last].reg.value) != REG_NONE;
}

static bool is_small(int64_t constant) {
    enum { LEAST = -1024, MOST = 1023 };
    return constant >= LEAST && constant <= MOST;
}

static bool is_r64(ZydisRegister reg) {
    return ZydisRegisterGetClass(reg) == ZYDIS_REGCLASS_GPR64;
}

/* A constant counts as it stands in the instruction, also that of a subtraction (a Golden Cove, by
 * measurement: sub rax, -1024 is one, sub rax, 1024 is not). */
static bool adds_constant(const struct zydis_view *view) {
    const ZydisDecodedOperand *to = &view->operand[0], *by = &view->operand[1];
    if (to->type != ZYDIS_OPERAND_TYPE_REGISTER || !is_r64(to->reg.value))
        return false;
    switch (view->insn.mnemonic) {
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
        return is_immediate(by) && is_small(by->imm.value.s);
    case ZYDIS_MNEMONIC_INC:
    case ZYDIS_MNEMONIC_DEC:
        return true;
    case ZYDIS_MNEMONIC_LEA:
        return is_r64(by->mem.base) && by->mem.index == ZYDIS_REGISTER_NONE &&
               is_small(by->mem.disp.value);
    default:
        return false;
    }
}

static bool loads_by_index(const ZydisDecodedOperand *operand) {
    return operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
           operand->mem.type == ZYDIS_MEMOP_TYPE_MEM && operand->mem.index != ZYDIS_REGISTER_NONE &&
           operand->actions & ANY_READ;
}

/* Rounding and masks there are none of are no inputs. */
static bool is_input(const ZydisDecodedOperand *operand) {
    const uint8_t reg = operand->type == ZYDIS_OPERAND_TYPE_REGISTER
                            ? x86_64_register(operand->reg.value)
                            : REG_NONE;
    return reg != REG_NONE && reg != REG_X86_FPCONTROL && operand->actions & ANY_READ &&
           !(operand->encoding == ZYDIS_OPERAND_ENCODING_MASK && reg == REG_X86_MASK);
}

static bool is_overwritten(const ZydisDecodedOperand *operand) {
    return operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
           operand->visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT &&
           operand->actions & ANY_WRITE && !(operand->actions & ANY_READ);
}

/* That two operands are one register does not matter. */
static bool is_unlaminated(const struct zydis_view *view) {
    const ZydisDecodedOperand *operand = view->operand;
    const unsigned count = view->insn.operand_count;
    return (view->insn.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX ||
            view->insn.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX) &&
           any_where(i, count, loads_by_index(&operand[i])) &&
           any_where(i, count, is_input(&operand[i])) &&
           any_where(i, count, is_overwritten(&operand[i]));
}

static bool writes_memory(const struct insn *insn) {
    return any_where(i, insn->memory_count, insn->memory[i].is_store);
}

static void set_flags(const struct zydis_view *view, struct insn *insn) {
    const ZydisDecodedInstruction *zydis = &view->insn;
    bool memory = insn->memory_count > 0;
    if ((zydis->attributes & ZYDIS_ATTRIB_HAS_LOCK) ||
        (zydis->mnemonic == ZYDIS_MNEMONIC_XCHG && memory))
        insn->flags |= INSN_ATOMIC | INSN_FENCE_LOAD | INSN_FENCE_STORE;
    if (memory && view->insn.meta.category == ZYDIS_CATEGORY_PREFETCH)
        insn->flags |= INSN_PREFETCH;
    for (unsigned i = 0; i < insn->memory_count; i++)
        if (register_is_fp(insn->memory[i].index) && !(insn->flags & INSN_PREFETCH))
            insn->flags |= INSN_GATHER;
    if (copies_register(view))
        insn->flags |= INSN_MOVE;
    if (insn->flags & INSN_SETS_FLAGS_FOR_FUSION) {
        /* Not with a memory destination, nor with an immediate and a rip-relative operand. */
        bool rip = false, immediate = false;
        for (unsigned i = 0; i < zydis->operand_count_visible; i++) {
            rip |= view->operand[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
                   view->operand[i].mem.base == ZYDIS_REGISTER_RIP;
            immediate |= is_immediate(&view->operand[i]);
        }
        if (writes_memory(insn) || (rip && immediate) || (insn->flags & INSN_ZERO))
            insn->flags &= (uint16_t)~INSN_SETS_FLAGS_FOR_FUSION;
    }
}

static void clear_operands(struct insn *insn) {
    insn->source_count = insn->destination_count = insn->memory_count = 0;
}

/* Dependences that the list of operands alone gets wrong. */
static void correct_dependences(const struct zydis_view *view, struct insn *insn) {
    unsigned traits = x86_64_traits(view->insn.mnemonic);
    if (same_inputs(view)) {
        if (traits & TRAIT_ZERO_IDIOM)
            insn->flags |= INSN_ZERO;
        if (traits & (TRAIT_ZERO_IDIOM | TRAIT_ONES_IDIOM))
            insn->source_count = 0;
        if (view->insn.mnemonic == ZYDIS_MNEMONIC_SBB) {
            insn->source[0] = REG_X86_CF;
            insn->source_count = 1;
        }
    }
    if (traits & TRAIT_READS_FP_CONTROL)
        insn_add_source(insn, REG_X86_FPCONTROL);
    if (traits & TRAIT_WRITES_FP_CONTROL)
        insn_add_destination(insn, REG_X86_FPCONTROL);
    if (insn->flags & INSN_SYSCALL) {
        clear_operands(insn);
        insn_add_source(insn, RAX);
        insn_add_destination(insn, RAX);
        insn_add_destination(insn, RCX);
        insn_add_destination(insn, R11);
    }
    if (insn->flags & INSN_NOP)
        clear_operands(insn);
}

bool x86_64_decode(const uint8_t *bytes, size_t size, struct insn *insn) {
    struct zydis_view view;
    if (!x86_64_view(bytes, size, &view))
        return false;
    insn->length = view.insn.length;
    insn->flags = x86_64_flags(view.insn.mnemonic);
    insn->is_cpuid = view.insn.mnemonic == ZYDIS_MNEMONIC_CPUID;
    for (unsigned i = 0; i < view.insn.operand_count; i++) {
        const ZydisDecodedOperand *operand = &view.operand[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER)
            add_register(&view, operand, insn);
        else if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
            add_memory(&view, operand, insn);
    }
    add_flags(&view, insn);
    set_branch(&view, insn);
    correct_dependences(&view, insn);
    set_flags(&view, insn);
    order_loads_first(insn);
    if (view.insn.meta.category == ZYDIS_CATEGORY_STRINGOP ||
        view.insn.meta.category == ZYDIS_CATEGORY_IOSTRINGOP)
        add_string_pointers(&view, insn);
    insn_add_address_sources(insn);
    insn->operation = x86_64_operation(&view.insn, insn);
    insn->form = x86_64_form(&view);
    insn->stack_use = (uint8_t)x86_64_stack_use(bytes, size, insn);
    insn->adds_constant = adds_constant(&view);
    insn->unlaminated = is_unlaminated(&view);
    return true;
}

size_t x86_64_text(const uint8_t *bytes, size_t size, uint64_t address, char *text,
                   size_t text_size) {
    struct zydis_view view;
    ZydisFormatter formatter;
    if (!x86_64_view(bytes, size, &view) ||
        !ZYAN_SUCCESS(ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL)))
        return 0;
    ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_FORCE_SIZE, ZYAN_TRUE);
    ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
    ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE,
                              ZYDIS_PADDING_DISABLED);
    ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_DISP_PADDING,
                              ZYDIS_PADDING_DISABLED);
    ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_IMM_PADDING, ZYDIS_PADDING_DISABLED);
    if (view.insn.mnemonic == ZYDIS_MNEMONIC_NOP && view.insn.operand_count_visible > 1)
        view.insn.operand_count_visible = 1; /* not the unused register field of a long no-op */
    if (!ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&formatter, &view.insn, view.operand,
                                                      view.insn.operand_count_visible, text,
                                                      text_size, address, ZYAN_NULL)))
        return 0;
    return strlen(text);
}
