/* Classes of work by mnemonic. There are some 1600 mnemonics, but their names are systematic: a
 * vector instruction is told by the start of its name once the VEX "v" is dropped, so one short
 * table of prefixes, most specific first, covers SSE to AVX-512. Exceptions are lists
 * of mnemonics. */
#include "isa/x86_64_operation.h"

#include <string.h>

#include "util/array.h"

/* Mnemonics that share a meaning; V(): also with the "v" of VEX and EVEX. */
struct mnemonics {
    uint16_t meaning;
    uint16_t list[36]; /* ends with ZYDIS_MNEMONIC_INVALID, which is 0 */
};
#define M(name) ZYDIS_MNEMONIC_##name
#define V(name) M(name), M(V##name)

static const struct mnemonics TRAITS[] = {
    {TRAIT_MOVE,
     {M(MOV), V(MOVAPD), V(MOVAPS), V(MOVDQA), V(MOVDQU), V(MOVUPD), V(MOVUPS), M(VMOVDQA32),
      M(VMOVDQA64), M(VMOVDQU16), M(VMOVDQU32), M(VMOVDQU64), M(VMOVDQU8)}},
    {TRAIT_ZERO_IDIOM,
     {M(XOR),     M(SUB),     V(PXOR),   V(XORPD),  V(XORPS),   V(PANDN),   V(ANDNPD),
      V(ANDNPS),  V(PSUBB),   V(PSUBD),  V(PSUBQ),  V(PSUBW),   V(PCMPGTB), V(PCMPGTD),
      V(PCMPGTQ), V(PCMPGTW), M(VPXORD), M(VPXORQ), M(VPANDND), M(VPANDNQ)}},
    {TRAIT_ONES_IDIOM, {V(PCMPEQB), V(PCMPEQD), V(PCMPEQQ), V(PCMPEQW)}},
    {TRAIT_SAVES_STATE | TRAIT_WRITES_FP_CONTROL,
     {M(FXRSTOR), M(FXRSTOR64), M(XRSTOR), M(XRSTOR64), M(XRSTORS), M(XRSTORS64)}},
    {TRAIT_SAVES_STATE | TRAIT_READS_FP_CONTROL,
     {M(FXSAVE), M(FXSAVE64), M(XSAVE), M(XSAVE64), M(XSAVEC), M(XSAVEC64), M(XSAVEOPT),
      M(XSAVEOPT64), M(XSAVES), M(XSAVES64)}},
    {TRAIT_READS_FP_CONTROL, {M(FNSTCW), M(FNSTENV), M(FNSTSW), V(STMXCSR)}},
    {TRAIT_READS_FP_CONTROL | TRAIT_WRITES_FP_CONTROL, {M(FNSAVE)}},
    {TRAIT_WRITES_FP_CONTROL,
     {M(FCOM), M(FCOMP), M(FCOMPP), M(FICOM), M(FICOMP), M(FLDCW), M(FLDENV), M(FNCLEX), M(FNINIT),
      M(FPREM), M(FPREM1), M(FRSTOR), M(FTST), M(FUCOM), M(FUCOMP), M(FUCOMPP), M(FXAM),
      V(LDMXCSR)}},
};

static const struct mnemonics FLAGS[] = {
    {INSN_NOP, {M(NOP), M(FNOP), M(ENDBR32), M(ENDBR64)}},
    {INSN_SERIALISING,
     {M(CPUID), M(IRET), M(IRETD), M(IRETQ), M(SERIALIZE), M(XSETBV), M(WRMSR), M(INVD), M(WBINVD),
      M(INVLPG), M(RSM), M(SYSRET)}},
    {INSN_SERIALISING | INSN_FENCE_LOAD, {M(LFENCE)}},
    {INSN_FENCE_STORE, {M(SFENCE)}},
    {INSN_FENCE_LOAD | INSN_FENCE_STORE, {M(MFENCE)}},
    {INSN_SYSCALL, {M(SYSCALL), M(SYSENTER), M(INT)}},
    {INSN_TRAP, {M(INT1), M(INT3), M(UD0), M(UD1), M(UD2), M(HLT)}},
    {INSN_SETS_FLAGS_FOR_FUSION, {M(CMP), M(TEST), M(ADD), M(SUB), M(AND), M(INC), M(DEC)}},
    {INSN_FUSES_WITH_FLAGS,
     {M(JB), M(JBE), M(JL), M(JLE), M(JNB), M(JNBE), M(JNL), M(JNLE), M(JNO), M(JNP), M(JNS),
      M(JNZ), M(JO), M(JP), M(JS), M(JZ)}},
};

static uint16_t meaning_of(ZydisMnemonic mnemonic, const struct mnemonics *rows, size_t count) {
    for (const struct mnemonics *row = rows; row < rows + count; row++)
        for (const uint16_t *other = row->list; *other; other++)
            if (*other == mnemonic)
                return row->meaning;
    return 0;
}

unsigned x86_64_traits(ZydisMnemonic mnemonic) {
    return meaning_of(mnemonic, TRAITS, sizeof TRAITS / sizeof *TRAITS);
}

uint16_t x86_64_flags(ZydisMnemonic mnemonic) {
    return meaning_of(mnemonic, FLAGS, sizeof FLAGS / sizeof *FLAGS);
}

struct prefix {
    char text[14];
    uint8_t operation;
};

static enum operation match(const struct prefix *table, unsigned count, const char *name,
                            enum operation otherwise) {
    const size_t i = index_where(k, count,
                                 name[0] == table[k].text[0] &&
                                     !strncmp(name, table[k].text, strlen(table[k].text)));
    return i < count ? table[i].operation : otherwise;
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

#define EXTENSION(name) [ZYDIS_ISA_EXT_##name] = true
#define MNEMONIC(name)  [ZYDIS_MNEMONIC_##name] = true
#define CATEGORY(name)  [ZYDIS_CATEGORY_##name] = true

static const bool IS_VECTOR[ZYDIS_ISA_EXT_MAX_VALUE + 1] = {
    EXTENSION(AES),        EXTENSION(AMD3DNOW),   EXTENSION(AVX),       EXTENSION(AVX2),
    EXTENSION(AVX2GATHER), EXTENSION(AVX512EVEX), EXTENSION(AVX512VEX), EXTENSION(AVXAES),
    EXTENSION(AVX_VNNI),   EXTENSION(F16C),       EXTENSION(FMA),       EXTENSION(FMA4),
    EXTENSION(GFNI),       EXTENSION(MMX),        EXTENSION(PCLMULQDQ), EXTENSION(SHA),
    EXTENSION(SSE),        EXTENSION(SSE2),       EXTENSION(SSE3),      EXTENSION(SSE4),
    EXTENSION(SSE4A),      EXTENSION(SSSE3),      EXTENSION(VAES),      EXTENSION(VPCLMULQDQ),
    EXTENSION(XOP)};

/* System instructions and the other microcoded ones: single ones, and whole categories. */
static const bool SYSTEM_ALONE[ZYDIS_MNEMONIC_MAX_VALUE + 1] = {
    MNEMONIC(RDTSC),    MNEMONIC(CPUID),     MNEMONIC(PAUSE),   MNEMONIC(LFENCE),
    MNEMONIC(MFENCE),   MNEMONIC(SFENCE),    MNEMONIC(LDMXCSR), MNEMONIC(STMXCSR),
    MNEMONIC(VLDMXCSR), MNEMONIC(VSTMXCSR),  MNEMONIC(FXSAVE),  MNEMONIC(FXSAVE64),
    MNEMONIC(FXRSTOR),  MNEMONIC(FXRSTOR64), MNEMONIC(POPF),    MNEMONIC(POPFQ),
    MNEMONIC(ENTER),    MNEMONIC(EMMS),      MNEMONIC(MONITOR), MNEMONIC(MWAIT),
    MNEMONIC(CLFLUSH),  MNEMONIC(XGETBV),    MNEMONIC(XSETBV)};
static const bool SYSTEM[ZYDIS_CATEGORY_MAX_VALUE + 1] = {
    CATEGORY(AMX_TILE),      CATEGORY(CLFLUSHOPT), CATEGORY(CLWB),      CATEGORY(CLZERO),
    CATEGORY(ENQCMD),        CATEGORY(HRESET),     CATEGORY(INTERRUPT), CATEGORY(IO),
    CATEGORY(IOSTRINGOP),    CATEGORY(KEYLOCKER),  CATEGORY(PADLOCK),   CATEGORY(PCONFIG),
    CATEGORY(PKU),           CATEGORY(PT),         CATEGORY(RDPID),     CATEGORY(RDPRU),
    CATEGORY(RDRAND),        CATEGORY(RDSEED),     CATEGORY(RDWRFSGS),  CATEGORY(SEGOP),
    CATEGORY(SERIALIZE),     CATEGORY(SGX),        CATEGORY(SMAP),      CATEGORY(SYSCALL),
    CATEGORY(SYSRET),        CATEGORY(SYSTEM),     CATEGORY(TSX_LDTRK), CATEGORY(UINTR),
    CATEGORY(VTX),           CATEGORY(WAITPKG),    CATEGORY(XSAVE),     CATEGORY(XSAVEOPT),
    CATEGORY(KEYLOCKER_WIDE)};

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
    if (SYSTEM_ALONE[zydis->mnemonic] || SYSTEM[zydis->meta.category] || (insn->flags & INSN_TRAP))
        return OP_SYSTEM;
    const char *name = ZydisMnemonicGetString(zydis->mnemonic);
    bool vector = IS_VECTOR[zydis->meta.isa_ext], load = false, store = false;
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
