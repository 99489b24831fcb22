/* Classes of work by mnemonic. There are some 1600 mnemonics, but their names are systematic: a
 * vector instruction is told by the start of its name once the VEX "v" is dropped, so one short
 * table of prefixes, most specific first, covers SSE to AVX-512. Exceptions are switches over
 * mnemonics. */
#include "isa/x86_64_operation.h"

#include <string.h>

unsigned x86_64_traits(ZydisMnemonic mnemonic) {
    switch (mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_MOVAPD:
    case ZYDIS_MNEMONIC_MOVAPS:
    case ZYDIS_MNEMONIC_MOVDQA:
    case ZYDIS_MNEMONIC_MOVDQU:
    case ZYDIS_MNEMONIC_MOVUPD:
    case ZYDIS_MNEMONIC_MOVUPS:
    case ZYDIS_MNEMONIC_VMOVAPD:
    case ZYDIS_MNEMONIC_VMOVAPS:
    case ZYDIS_MNEMONIC_VMOVDQA:
    case ZYDIS_MNEMONIC_VMOVDQA32:
    case ZYDIS_MNEMONIC_VMOVDQA64:
    case ZYDIS_MNEMONIC_VMOVDQU:
    case ZYDIS_MNEMONIC_VMOVDQU16:
    case ZYDIS_MNEMONIC_VMOVDQU32:
    case ZYDIS_MNEMONIC_VMOVDQU64:
    case ZYDIS_MNEMONIC_VMOVDQU8:
    case ZYDIS_MNEMONIC_VMOVUPD:
    case ZYDIS_MNEMONIC_VMOVUPS:
        return TRAIT_MOVE;
    case ZYDIS_MNEMONIC_XOR:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_PXOR:
    case ZYDIS_MNEMONIC_XORPD:
    case ZYDIS_MNEMONIC_XORPS:
    case ZYDIS_MNEMONIC_PANDN:
    case ZYDIS_MNEMONIC_ANDNPD:
    case ZYDIS_MNEMONIC_ANDNPS:
    case ZYDIS_MNEMONIC_PSUBB:
    case ZYDIS_MNEMONIC_PSUBD:
    case ZYDIS_MNEMONIC_PSUBQ:
    case ZYDIS_MNEMONIC_PSUBW:
    case ZYDIS_MNEMONIC_PCMPGTB:
    case ZYDIS_MNEMONIC_PCMPGTD:
    case ZYDIS_MNEMONIC_PCMPGTQ:
    case ZYDIS_MNEMONIC_PCMPGTW:
    case ZYDIS_MNEMONIC_VPXOR:
    case ZYDIS_MNEMONIC_VPXORD:
    case ZYDIS_MNEMONIC_VPXORQ:
    case ZYDIS_MNEMONIC_VXORPD:
    case ZYDIS_MNEMONIC_VXORPS:
    case ZYDIS_MNEMONIC_VPANDN:
    case ZYDIS_MNEMONIC_VPANDND:
    case ZYDIS_MNEMONIC_VPANDNQ:
    case ZYDIS_MNEMONIC_VANDNPD:
    case ZYDIS_MNEMONIC_VANDNPS:
    case ZYDIS_MNEMONIC_VPSUBB:
    case ZYDIS_MNEMONIC_VPSUBD:
    case ZYDIS_MNEMONIC_VPSUBQ:
    case ZYDIS_MNEMONIC_VPSUBW:
    case ZYDIS_MNEMONIC_VPCMPGTB:
    case ZYDIS_MNEMONIC_VPCMPGTD:
    case ZYDIS_MNEMONIC_VPCMPGTQ:
    case ZYDIS_MNEMONIC_VPCMPGTW:
        return TRAIT_ZERO_IDIOM;
    case ZYDIS_MNEMONIC_PCMPEQB:
    case ZYDIS_MNEMONIC_PCMPEQD:
    case ZYDIS_MNEMONIC_PCMPEQQ:
    case ZYDIS_MNEMONIC_PCMPEQW:
    case ZYDIS_MNEMONIC_VPCMPEQB:
    case ZYDIS_MNEMONIC_VPCMPEQD:
    case ZYDIS_MNEMONIC_VPCMPEQQ:
    case ZYDIS_MNEMONIC_VPCMPEQW:
        return TRAIT_ONES_IDIOM;
    case ZYDIS_MNEMONIC_FXRSTOR:
    case ZYDIS_MNEMONIC_FXRSTOR64:
    case ZYDIS_MNEMONIC_XRSTOR:
    case ZYDIS_MNEMONIC_XRSTOR64:
    case ZYDIS_MNEMONIC_XRSTORS:
    case ZYDIS_MNEMONIC_XRSTORS64:
        return TRAIT_SAVES_STATE | TRAIT_WRITES_FP_CONTROL;
    case ZYDIS_MNEMONIC_FXSAVE:
    case ZYDIS_MNEMONIC_FXSAVE64:
    case ZYDIS_MNEMONIC_XSAVE:
    case ZYDIS_MNEMONIC_XSAVE64:
    case ZYDIS_MNEMONIC_XSAVEC:
    case ZYDIS_MNEMONIC_XSAVEC64:
    case ZYDIS_MNEMONIC_XSAVEOPT:
    case ZYDIS_MNEMONIC_XSAVEOPT64:
    case ZYDIS_MNEMONIC_XSAVES:
    case ZYDIS_MNEMONIC_XSAVES64:
        return TRAIT_SAVES_STATE | TRAIT_READS_FP_CONTROL;
    case ZYDIS_MNEMONIC_FNSTCW:
    case ZYDIS_MNEMONIC_FNSTENV:
    case ZYDIS_MNEMONIC_FNSTSW:
    case ZYDIS_MNEMONIC_STMXCSR:
    case ZYDIS_MNEMONIC_VSTMXCSR:
        return TRAIT_READS_FP_CONTROL;
    case ZYDIS_MNEMONIC_FNSAVE:
        return TRAIT_READS_FP_CONTROL | TRAIT_WRITES_FP_CONTROL;
    case ZYDIS_MNEMONIC_FCOM:
    case ZYDIS_MNEMONIC_FCOMP:
    case ZYDIS_MNEMONIC_FCOMPP:
    case ZYDIS_MNEMONIC_FICOM:
    case ZYDIS_MNEMONIC_FICOMP:
    case ZYDIS_MNEMONIC_FLDCW:
    case ZYDIS_MNEMONIC_FLDENV:
    case ZYDIS_MNEMONIC_FNCLEX:
    case ZYDIS_MNEMONIC_FNINIT:
    case ZYDIS_MNEMONIC_FPREM:
    case ZYDIS_MNEMONIC_FPREM1:
    case ZYDIS_MNEMONIC_FRSTOR:
    case ZYDIS_MNEMONIC_FTST:
    case ZYDIS_MNEMONIC_FUCOM:
    case ZYDIS_MNEMONIC_FUCOMP:
    case ZYDIS_MNEMONIC_FUCOMPP:
    case ZYDIS_MNEMONIC_FXAM:
    case ZYDIS_MNEMONIC_LDMXCSR:
    case ZYDIS_MNEMONIC_VLDMXCSR:
        return TRAIT_WRITES_FP_CONTROL;
    default:
        return 0;
    }
}

uint16_t x86_64_flags(ZydisMnemonic mnemonic) {
    switch (mnemonic) {
    case ZYDIS_MNEMONIC_NOP:
    case ZYDIS_MNEMONIC_FNOP:
    case ZYDIS_MNEMONIC_ENDBR32:
    case ZYDIS_MNEMONIC_ENDBR64:
        return INSN_NOP;
    case ZYDIS_MNEMONIC_CPUID:
    case ZYDIS_MNEMONIC_IRET:
    case ZYDIS_MNEMONIC_IRETD:
    case ZYDIS_MNEMONIC_IRETQ:
    case ZYDIS_MNEMONIC_SERIALIZE:
    case ZYDIS_MNEMONIC_XSETBV:
    case ZYDIS_MNEMONIC_WRMSR:
    case ZYDIS_MNEMONIC_INVD:
    case ZYDIS_MNEMONIC_WBINVD:
    case ZYDIS_MNEMONIC_INVLPG:
    case ZYDIS_MNEMONIC_RSM:
    case ZYDIS_MNEMONIC_SYSRET:
        return INSN_SERIALISING;
    case ZYDIS_MNEMONIC_LFENCE:
        return INSN_FENCE_LOAD;
    case ZYDIS_MNEMONIC_SFENCE:
        return INSN_FENCE_STORE;
    case ZYDIS_MNEMONIC_MFENCE:
        return INSN_FENCE_LOAD | INSN_FENCE_STORE;
    case ZYDIS_MNEMONIC_SYSCALL:
    case ZYDIS_MNEMONIC_SYSENTER:
    case ZYDIS_MNEMONIC_INT:
        return INSN_SYSCALL;
    case ZYDIS_MNEMONIC_INT1:
    case ZYDIS_MNEMONIC_INT3:
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_HLT:
        return INSN_TRAP;
    case ZYDIS_MNEMONIC_CMP:
    case ZYDIS_MNEMONIC_TEST:
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_AND:
    case ZYDIS_MNEMONIC_INC:
    case ZYDIS_MNEMONIC_DEC:
        return INSN_SETS_FLAGS_FOR_FUSION;
    case ZYDIS_MNEMONIC_JB:
    case ZYDIS_MNEMONIC_JBE:
    case ZYDIS_MNEMONIC_JL:
    case ZYDIS_MNEMONIC_JLE:
    case ZYDIS_MNEMONIC_JNB:
    case ZYDIS_MNEMONIC_JNBE:
    case ZYDIS_MNEMONIC_JNL:
    case ZYDIS_MNEMONIC_JNLE:
    case ZYDIS_MNEMONIC_JNO:
    case ZYDIS_MNEMONIC_JNP:
    case ZYDIS_MNEMONIC_JNS:
    case ZYDIS_MNEMONIC_JNZ:
    case ZYDIS_MNEMONIC_JO:
    case ZYDIS_MNEMONIC_JP:
    case ZYDIS_MNEMONIC_JS:
    case ZYDIS_MNEMONIC_JZ:
        return INSN_FUSES_WITH_FLAGS;
    default:
        return 0;
    }
}

struct prefix {
    char text[14];
    uint8_t operation;
};

static enum operation match(const struct prefix *table, unsigned count, const char *name,
                            enum operation otherwise) {
    for (unsigned i = 0; i < count; i++)
        if (name[0] == table[i].text[0] && strncmp(name, table[i].text, strlen(table[i].text)) == 0)
            return table[i].operation;
    return otherwise;
}
#define MATCH(table, name, otherwise) match(table, sizeof table / sizeof *table, name, otherwise)

/* Vector instructions, without the "v" of VEX and EVEX. */
static const struct prefix VECTOR_PREFIXES[] = {
    {"addsub", OP_FP_ADD},      {"add", OP_FP_ADD},          {"aes", OP_CRYPTO},
    {"align", OP_VEC_PERM},     {"and", OP_VEC_ALU},         {"blend", OP_VEC_ALU},
    {"broadcast", OP_VEC_PERM}, {"cmp", OP_FP_MISC},         {"comis", OP_FP_MISC},
    {"compress", OP_VEC_PERM},  {"crc32", OP_CRYPTO},        {"cvt", OP_FP_MISC},
    {"dbpsadbw", OP_VEC_MUL},   {"div", OP_FP_DIV},          {"dp", OP_FP_FMA},
    {"exp2", OP_FP_FMA},        {"expand", OP_VEC_PERM},     {"extract", OP_VEC_PERM},
    {"fcmadd", OP_FP_FMA},      {"fcmul", OP_FP_MUL},        {"fixup", OP_FP_MISC},
    {"fmul", OP_FP_MUL},        {"fm", OP_FP_FMA},           {"fnm", OP_FP_FMA},
    {"fpclass", OP_FP_MISC},    {"frcz", OP_FP_MISC},        {"gather", OP_VEC_PERM},
    {"get", OP_FP_MISC},        {"gf2p8", OP_CRYPTO},        {"hadd", OP_FP_ADD},
    {"hsub", OP_FP_ADD},        {"insert", OP_VEC_PERM},     {"max", OP_FP_MISC},
    {"min", OP_FP_MISC},        {"movmsk", OP_FP_MISC},      {"movhlps", OP_VEC_PERM},
    {"movlhps", OP_VEC_PERM},   {"movh", OP_VEC_PERM},       {"movl", OP_VEC_PERM},
    {"movddup", OP_VEC_PERM},   {"movsh", OP_VEC_PERM},      {"movsl", OP_VEC_PERM},
    {"mpsadbw", OP_VEC_MUL},    {"mul", OP_FP_MUL},          {"pack", OP_VEC_PERM},
    {"palignr", OP_VEC_PERM},   {"pbroadcast", OP_VEC_PERM}, {"pclmul", OP_CRYPTO},
    {"pcmpestr", OP_VEC_MUL},   {"pcmpistr", OP_VEC_MUL},    {"pcompress", OP_VEC_PERM},
    {"pconflict", OP_VEC_MUL},  {"pdp", OP_VEC_MUL},         {"perm", OP_VEC_PERM},
    {"pexpand", OP_VEC_PERM},   {"pext", OP_VEC_PERM},       {"pgather", OP_VEC_PERM},
    {"phminpos", OP_VEC_MUL},   {"pins", OP_VEC_PERM},       {"pmac", OP_VEC_MUL},
    {"pmad", OP_VEC_MUL},       {"pmovmskb", OP_FP_MISC},    {"pmov", OP_VEC_PERM},
    {"pmul", OP_VEC_MUL},       {"ppm", OP_VEC_PERM},        {"pperm", OP_VEC_PERM},
    {"psadbw", OP_VEC_MUL},     {"pscatter", OP_VEC_PERM},   {"pshuf", OP_VEC_PERM},
    {"pslldq", OP_VEC_PERM},    {"psrldq", OP_VEC_PERM},     {"pswap", OP_VEC_PERM},
    {"ptest", OP_FP_MISC},      {"punpck", OP_VEC_PERM},     {"pfadd", OP_FP_ADD},
    {"pfsub", OP_FP_ADD},       {"pfmul", OP_FP_MUL},        {"pf", OP_FP_MISC},
    {"range", OP_FP_MISC},      {"rcp", OP_FP_MISC},         {"reduce", OP_FP_MISC},
    {"rndscale", OP_FP_MISC},   {"round", OP_FP_MISC},       {"rsqrt", OP_FP_MISC},
    {"scalef", OP_FP_MISC},     {"scatter", OP_VEC_PERM},    {"sha", OP_CRYPTO},
    {"shuf", OP_VEC_PERM},      {"sqrt", OP_FP_SQRT},        {"sub", OP_FP_ADD},
    {"test", OP_FP_MISC},       {"ucomis", OP_FP_MISC},      {"unpck", OP_VEC_PERM},
    {"zero", OP_NOP},
};

/* The x87 functions computed by microcode are counted as divisions: long and not pipelined. */
static const struct prefix X87_PREFIXES[] = {
    {"fadd", OP_FP_ADD},   {"fiadd", OP_FP_ADD}, {"fsub", OP_FP_ADD},   {"fisub", OP_FP_ADD},
    {"fmul", OP_FP_MUL},   {"fimul", OP_FP_MUL}, {"fdiv", OP_FP_DIV},   {"fidiv", OP_FP_DIV},
    {"fsqrt", OP_FP_SQRT}, {"f2xm1", OP_FP_DIV}, {"fcos", OP_FP_DIV},   {"fpatan", OP_FP_DIV},
    {"fprem", OP_FP_DIV},  {"fptan", OP_FP_DIV}, {"fsin", OP_FP_DIV},   {"fyl2x", OP_FP_DIV},
    {"fbld", OP_FP_DIV},   {"fbstp", OP_FP_DIV}, {"fldenv", OP_SYSTEM}, {"fldcw", OP_SYSTEM},
    {"fnsave", OP_SYSTEM}, {"fnst", OP_SYSTEM},  {"frstor", OP_SYSTEM}, {"fninit", OP_SYSTEM},
    {"fnclex", OP_SYSTEM}, {"fwait", OP_NOP},    {"ffree", OP_NOP},
};

/* Instructions that only move what is in memory: with a memory operand, one load or store. */
static const struct prefix COPY_PREFIXES[] = {
    {"movbe", OP_NOP},       {"movmsk", OP_NOP},    {"movsh", OP_NOP},  {"movsl", OP_NOP},
    {"movdir", OP_NOP},      {"mov", OP_LOAD},      {"lddqu", OP_LOAD}, {"broadcast", OP_LOAD},
    {"pbroadcast", OP_LOAD}, {"kmov", OP_LOAD},     {"pop", OP_LOAD},   {"push", OP_LOAD},
    {"lods", OP_LOAD},       {"stos", OP_LOAD},     {"fldenv", OP_NOP}, {"fldcw", OP_NOP},
    {"fld", OP_LOAD},        {"fst", OP_LOAD},      {"leave", OP_LOAD}, {"maskmov", OP_LOAD},
    {"pmaskmov", OP_LOAD},   {"prefetch", OP_LOAD}, {"movnt", OP_LOAD},
};

static bool is_vector(const ZydisDecodedInstruction *zydis) {
    switch (zydis->meta.isa_ext) {
    case ZYDIS_ISA_EXT_AES:
    case ZYDIS_ISA_EXT_AMD3DNOW:
    case ZYDIS_ISA_EXT_AVX:
    case ZYDIS_ISA_EXT_AVX2:
    case ZYDIS_ISA_EXT_AVX2GATHER:
    case ZYDIS_ISA_EXT_AVX512EVEX:
    case ZYDIS_ISA_EXT_AVX512VEX:
    case ZYDIS_ISA_EXT_AVXAES:
    case ZYDIS_ISA_EXT_AVX_VNNI:
    case ZYDIS_ISA_EXT_F16C:
    case ZYDIS_ISA_EXT_FMA:
    case ZYDIS_ISA_EXT_FMA4:
    case ZYDIS_ISA_EXT_GFNI:
    case ZYDIS_ISA_EXT_MMX:
    case ZYDIS_ISA_EXT_PCLMULQDQ:
    case ZYDIS_ISA_EXT_SHA:
    case ZYDIS_ISA_EXT_SSE:
    case ZYDIS_ISA_EXT_SSE2:
    case ZYDIS_ISA_EXT_SSE3:
    case ZYDIS_ISA_EXT_SSE4:
    case ZYDIS_ISA_EXT_SSE4A:
    case ZYDIS_ISA_EXT_SSSE3:
    case ZYDIS_ISA_EXT_VAES:
    case ZYDIS_ISA_EXT_VPCLMULQDQ:
    case ZYDIS_ISA_EXT_XOP:
        return true;
    default:
        return false;
    }
}

/* System instructions and the other microcoded ones. */
static bool is_system(const ZydisDecodedInstruction *zydis) {
    switch (zydis->mnemonic) {
    case ZYDIS_MNEMONIC_RDTSC:
    case ZYDIS_MNEMONIC_CPUID:
    case ZYDIS_MNEMONIC_PAUSE:
    case ZYDIS_MNEMONIC_LFENCE:
    case ZYDIS_MNEMONIC_MFENCE:
    case ZYDIS_MNEMONIC_SFENCE:
    case ZYDIS_MNEMONIC_LDMXCSR:
    case ZYDIS_MNEMONIC_STMXCSR:
    case ZYDIS_MNEMONIC_VLDMXCSR:
    case ZYDIS_MNEMONIC_VSTMXCSR:
    case ZYDIS_MNEMONIC_FXSAVE:
    case ZYDIS_MNEMONIC_FXSAVE64:
    case ZYDIS_MNEMONIC_FXRSTOR:
    case ZYDIS_MNEMONIC_FXRSTOR64:
    case ZYDIS_MNEMONIC_POPF:
    case ZYDIS_MNEMONIC_POPFQ:
    case ZYDIS_MNEMONIC_ENTER:
    case ZYDIS_MNEMONIC_EMMS:
    case ZYDIS_MNEMONIC_MONITOR:
    case ZYDIS_MNEMONIC_MWAIT:
    case ZYDIS_MNEMONIC_CLFLUSH:
    case ZYDIS_MNEMONIC_XGETBV:
    case ZYDIS_MNEMONIC_XSETBV:
        return true;
    default:
        break;
    }
    switch (zydis->meta.category) {
    case ZYDIS_CATEGORY_AMX_TILE:
    case ZYDIS_CATEGORY_CLFLUSHOPT:
    case ZYDIS_CATEGORY_CLWB:
    case ZYDIS_CATEGORY_CLZERO:
    case ZYDIS_CATEGORY_ENQCMD:
    case ZYDIS_CATEGORY_HRESET:
    case ZYDIS_CATEGORY_INTERRUPT:
    case ZYDIS_CATEGORY_IO:
    case ZYDIS_CATEGORY_IOSTRINGOP:
    case ZYDIS_CATEGORY_KEYLOCKER:
    case ZYDIS_CATEGORY_KEYLOCKER_WIDE:
    case ZYDIS_CATEGORY_PADLOCK:
    case ZYDIS_CATEGORY_PCONFIG:
    case ZYDIS_CATEGORY_PKU:
    case ZYDIS_CATEGORY_PT:
    case ZYDIS_CATEGORY_RDPID:
    case ZYDIS_CATEGORY_RDPRU:
    case ZYDIS_CATEGORY_RDRAND:
    case ZYDIS_CATEGORY_RDSEED:
    case ZYDIS_CATEGORY_RDWRFSGS:
    case ZYDIS_CATEGORY_SEGOP:
    case ZYDIS_CATEGORY_SERIALIZE:
    case ZYDIS_CATEGORY_SGX:
    case ZYDIS_CATEGORY_SMAP:
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET:
    case ZYDIS_CATEGORY_SYSTEM:
    case ZYDIS_CATEGORY_TSX_LDTRK:
    case ZYDIS_CATEGORY_UINTR:
    case ZYDIS_CATEGORY_VTX:
    case ZYDIS_CATEGORY_WAITPKG:
    case ZYDIS_CATEGORY_XSAVE:
    case ZYDIS_CATEGORY_XSAVEOPT:
        return true;
    default:
        return false;
    }
}

static enum operation integer_operation(ZydisMnemonic mnemonic) {
    switch (mnemonic) {
    case ZYDIS_MNEMONIC_MUL:
    case ZYDIS_MNEMONIC_IMUL:
    case ZYDIS_MNEMONIC_MULX:
    case ZYDIS_MNEMONIC_PDEP:
    case ZYDIS_MNEMONIC_PEXT:
        return OP_INT_MUL;
    case ZYDIS_MNEMONIC_DIV:
    case ZYDIS_MNEMONIC_IDIV:
        return OP_INT_DIV;
    case ZYDIS_MNEMONIC_CRC32:
        return OP_CRYPTO;
    default:
        return OP_INT_ALU;
    }
}

/* movd, movq, kmov, pextr ... between a general and a vector or mask register. */
static bool crosses_files(const struct insn *insn) {
    bool integer = false, vector = false;
    for (unsigned i = 0; i < insn->source_count + insn->destination_count; i++) {
        uint8_t reg =
            i < insn->source_count ? insn->source[i] : insn->destination[i - insn->source_count];
        integer |= reg < REG_X86_CF;
        vector |= reg >= REG_VECTOR && reg < REG_TEMPORARY;
    }
    return integer && vector;
}

enum operation x86_64_operation(const ZydisDecodedInstruction *zydis, const struct insn *insn) {
    if (insn->flags & INSN_NOP)
        return OP_NOP;
    if (insn->branch != BRANCH_NONE)
        return OP_BRANCH;
    if (is_system(zydis) || (insn->flags & INSN_TRAP))
        return OP_SYSTEM;
    const char *name = ZydisMnemonicGetString(zydis->mnemonic);
    bool vector = is_vector(zydis), load = false, store = false;
    if (vector && name[0] == 'v')
        name++;
    for (unsigned i = 0; i < insn->memory_count; i++) {
        load |= insn->memory[i].is_load;
        store |= insn->memory[i].is_store;
    }
    if ((load || store) && !(insn->flags & INSN_ATOMIC) &&
        MATCH(COPY_PREFIXES, name, OP_NOP) == OP_LOAD)
        return store ? OP_STORE : OP_LOAD;
    if (zydis->meta.isa_ext == ZYDIS_ISA_EXT_X87)
        return MATCH(X87_PREFIXES, name, OP_FP_MISC);
    if (!vector)
        return integer_operation(zydis->mnemonic);
    enum operation operation = MATCH(VECTOR_PREFIXES, name, OP_VEC_ALU);
    return operation == OP_VEC_ALU && !load && !store && crosses_files(insn) ? OP_FP_MISC
                                                                             : operation;
}
