/* RV64GC assembly as GNU objdump writes it: ABI register names, the pseudo-instructions of the
 * assembly manual (li, mv, ret, beqz, csrr ...), operands separated by commas without spaces;
 * branch targets as absolute hexadecimal addresses.
 *
 * Each instruction tries the pseudo-instruction of its row, then the form of its format. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "isa/isa_internal.h"
#include "isa/riscv64_table.h"
#include "util/array.h"

static const char *const INTEGER_NAMES[32] = {"zero", "ra", "sp",  "gp",  "tp", "t0", "t1", "t2",
                                              "s0",   "s1", "a0",  "a1",  "a2", "a3", "a4", "a5",
                                              "a6",   "a7", "s2",  "s3",  "s4", "s5", "s6", "s7",
                                              "s8",   "s9", "s10", "s11", "t3", "t4", "t5", "t6"};
static const char *const FP_NAMES[32] = {
    "ft0", "ft1", "ft2", "ft3", "ft4",  "ft5",  "ft6", "ft7", "fs0",  "fs1", "fa0",
    "fa1", "fa2", "fa3", "fa4", "fa5",  "fa6",  "fa7", "fs2", "fs3",  "fs4", "fs5",
    "fs6", "fs7", "fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11"};
static const char *const ROUNDING_NAMES[8] = {"rne", "rtz", "rdn", "rup", "rmm", "", "", "dyn"};

struct writer {
    char *text;
    size_t size, length;
};

__attribute__((format(printf, 2, 3))) static void put(struct writer *writer, const char *format,
                                                      ...) {
    va_list arguments;
    va_start(arguments, format);
    int written =
        vsnprintf(writer->text + writer->length, writer->size - writer->length, format, arguments);
    va_end(arguments);
    if (written > 0)
        writer->length += (size_t)written;
    if (writer->length >= writer->size)
        writer->length = writer->size - 1;
}

/* Fields of the instruction at hand, by the names the manual gives them. */
struct fields {
    const char *name, *rd, *rs1, *rs2, *fd, *fs1, *fs2, *fs3;
    unsigned rd_number, rs1_number, rs2_number;
    uint32_t word;
    uint64_t address;
};

static void put_csr(struct writer *writer, unsigned csr) {
    static const struct {
        uint16_t number;
        char name[14];
    } NAMES[] = {
        {0x001, "fflags"},  {0x002, "frm"},        {0x003, "fcsr"},     {0xc00, "cycle"},
        {0xc01, "time"},    {0xc02, "instret"},    {0x100, "sstatus"},  {0x104, "sie"},
        {0x105, "stvec"},   {0x106, "scounteren"}, {0x140, "sscratch"}, {0x141, "sepc"},
        {0x142, "scause"},  {0x143, "stval"},      {0x144, "sip"},      {0x180, "satp"},
        {0x300, "mstatus"}, {0x301, "misa"},       {0x302, "medeleg"},  {0x303, "mideleg"},
        {0x304, "mie"},     {0x305, "mtvec"},      {0x340, "mscratch"}, {0x341, "mepc"},
        {0x342, "mcause"},  {0x343, "mtval"},      {0x344, "mip"},      {0xf14, "mhartid"}};
    const size_t count = sizeof NAMES / sizeof *NAMES;
    const size_t i = index_where(k, count, NAMES[k].number == csr);
    if (i < count)
        put(writer, "%s", NAMES[i].name);
    else
        put(writer, "0x%x", csr);
}

/* ---- pseudo-instructions; each returns false when the plain form is right ---- */

/* Of two registers, the third field being zero or an immediate that the word has. */
static bool put_alias_of_two(struct writer *writer, const struct fields *f) {
    enum { IMMEDIATE = 0xfff0707f, RS2_ZERO = IMMEDIATE, RS1_ZERO = 0xfe0ff07f };
    static const struct {
        uint32_t fields, word;
        const char *name;
    } ALIASES[] = {{IMMEDIATE, 0x00000013, "mv"},     {IMMEDIATE, 0x0000001b, "sext.w"},
                   {IMMEDIATE, 0x00103013, "seqz"},   {IMMEDIATE, 0xfff04013, "not"},
                   {IMMEDIATE, 0x0ff07013, "zext.b"}, {RS1_ZERO, 0x40000033, "neg"},
                   {RS1_ZERO, 0x4000003b, "negw"},    {RS2_ZERO, 0x00002033, "sltz"},
                   {RS1_ZERO, 0x00002033, "sgtz"},    {RS1_ZERO, 0x00003033, "snez"}};
    const size_t count = sizeof ALIASES / sizeof *ALIASES;
    const size_t i = index_where(k, count, (f->word & ALIASES[k].fields) == ALIASES[k].word);
    if (i < count)
        put(writer, "%s %s,%s", ALIASES[i].name, f->rd,
            ALIASES[i].fields == RS1_ZERO ? f->rs2 : f->rs1);
    return i < count;
}

static bool put_alias_li(struct writer *writer, const struct fields *f) {
    if ((f->word & 0x000ff07f) != 0x00000013)
        return false; /* not addi of zero */
    if (f->word == 0x00000013)
        put(writer, "nop");
    else
        put(writer, "li %s,%d", f->rd, riscv64_imm_i(f->word));
    return true;
}

static bool put_alias_fp(struct writer *writer, const struct fields *f) {
    static const char *const NAMES[3] = {"fmv", "fneg", "fabs"};
    unsigned funct3 = riscv64_funct3(f->word);
    if ((f->word & 0xfc00007f) != 0x20000053 || f->rs1_number != f->rs2_number || funct3 > 2)
        return false; /* not fsgnj, fsgnjn, fsgnjx of one register */
    put(writer, "%s.%c %s,%s", NAMES[funct3], f->word >> 25 & 1 ? 'd' : 's', f->fd, f->fs1);
    return true;
}

static bool put_alias_branch(struct writer *writer, const struct fields *f, uint64_t target) {
    static const char *const WITH_RS2_ZERO[8] = {"beqz", "bnez", NULL, NULL, "bltz", "bgez"};
    static const char *const WITH_RS1_ZERO[8] = {NULL, NULL, NULL, NULL, "bgtz", "blez"};
    unsigned funct3 = riscv64_funct3(f->word);
    if (f->rs2_number == 0 && WITH_RS2_ZERO[funct3])
        put(writer, "%s %s,0x%" PRIx64, WITH_RS2_ZERO[funct3], f->rs1, target);
    else if (f->rs1_number == 0 && WITH_RS1_ZERO[funct3])
        put(writer, "%s %s,0x%" PRIx64, WITH_RS1_ZERO[funct3], f->rs2, target);
    return writer->length > 0;
}

static void put_jalr(struct writer *writer, const struct fields *f) {
    int32_t offset = riscv64_imm_i(f->word);
    if (f->rd_number == 0 && f->rs1_number == 1 && offset == 0) {
        put(writer, "ret");
        return;
    }
    put(writer, f->rd_number == 0 ? "jr " : "jalr ");
    if (f->rd_number > 1)
        put(writer, "%s,", f->rd);
    if (offset == 0)
        put(writer, "%s", f->rs1);
    else
        put(writer, "%d(%s)", offset, f->rs1);
}

/* The shorthands of fflags, frm and fcsr: fr* reads, fs* writes or exchanges. */
static bool put_alias_fp_csr(struct writer *writer, const struct fields *f, unsigned csr) {
    static const char *const SUFFIXES[4] = {"", "flags", "rm", "csr"};
    unsigned funct3 = riscv64_funct3(f->word);
    if (csr < RISCV64_FFLAGS || csr > RISCV64_FCSR)
        return false;
    if (funct3 == 2 && f->rs1_number == 0) {
        put(writer, "fr%s %s", SUFFIXES[csr], f->rd);
    } else if (funct3 == 1 || (funct3 == 5 && csr != RISCV64_FCSR)) {
        put(writer, "fs%s%s ", SUFFIXES[csr], funct3 == 5 ? "i" : "");
        if (f->rd_number != 0)
            put(writer, "%s,", f->rd);
        if (funct3 == 5)
            put(writer, "%u", f->rs1_number);
        else
            put(writer, "%s", f->rs1);
    }
    return writer->length > 0;
}

static void put_csr_access(struct writer *writer, const struct fields *f) {
    static const char *const SHORT_NAMES[8] = {"", "csrw",  "csrs",  "csrc",
                                               "", "csrwi", "csrsi", "csrci"};
    static const char *const COUNTERS[3] = {"rdcycle", "rdtime", "rdinstret"};
    unsigned csr = riscv64_csr(f->word), funct3 = riscv64_funct3(f->word);
    bool reads_only = funct3 == 2 && f->rs1_number == 0;
    if (f->word == RISCV64_UNIMP) {
        put(writer, "unimp");
        return;
    }
    if (put_alias_fp_csr(writer, f, csr))
        return;
    if (reads_only && csr >= 0xc00 && csr <= 0xc02) {
        put(writer, "%s %s", COUNTERS[csr - 0xc00], f->rd);
        return;
    }
    if (reads_only) {
        put(writer, "csrr %s,", f->rd);
        put_csr(writer, csr);
        return;
    }
    if (f->rd_number == 0)
        put(writer, "%s ", SHORT_NAMES[funct3]);
    else
        put(writer, "%s %s,", f->name, f->rd);
    put_csr(writer, csr);
    if (funct3 >= 4)
        put(writer, ",%u", f->rs1_number);
    else
        put(writer, ",%s", f->rs1);
}

static void put_fence(struct writer *writer, const struct fields *f) {
    if (f->word == RISCV64_PAUSE) {
        put(writer, "pause");
    } else if (f->word == 0x8330000f) {
        put(writer, "fence.tso");
    } else if (f->word == 0x0ff0000f) {
        put(writer, "fence");
    } else {
        put(writer, "fence ");
        for (unsigned half = 0; half < 2; half++) {
            unsigned set = f->word >> (half == 0 ? 24 : 20) & 15;
            put(writer, "%s%s%s%s%s%s", half == 0 ? "" : ",", set & 8 ? "i" : "",
                set & 4 ? "o" : "", set & 2 ? "r" : "", set & 1 ? "w" : "",
                set == 0 ? "unknown" : "");
        }
    }
}

static void put_rounding(struct writer *writer, const struct fields *f) {
    unsigned mode = riscv64_funct3(f->word);
    /* Conversions that are always exact ignore the mode; assemblers leave it zero. */
    bool exact = strcmp(f->name, "fcvt.d.s") == 0 || strcmp(f->name, "fcvt.d.w") == 0 ||
                 strcmp(f->name, "fcvt.d.wu") == 0;
    if (mode != RISCV64_ROUND_DYNAMIC && !(exact && mode == 0))
        put(writer, ",%s", ROUNDING_NAMES[mode]);
}

static void put_plain(struct writer *writer, const struct fields *f, unsigned format) {
    static const char *const ORDERINGS[4] = {"", ".rl", ".aq", ".aqrl"};
    uint32_t word = f->word;
    int32_t offset = riscv64_imm_i(word);
    put(writer, "%s", f->name);
    switch (format) {
    case FORMAT_R:
        put(writer, " %s,%s,%s", f->rd, f->rs1, f->rs2);
        break;
    case FORMAT_I:
        put(writer, " %s,%s,%d", f->rd, f->rs1, offset);
        break;
    case FORMAT_SHIFT:
        put(writer, " %s,%s,0x%x", f->rd, f->rs1, word >> 20 & 63);
        break;
    case FORMAT_LOAD:
        put(writer, " %s,%d(%s)", f->rd, offset, f->rs1);
        break;
    case FORMAT_FP_LOAD:
        put(writer, " %s,%d(%s)", f->fd, offset, f->rs1);
        break;
    case FORMAT_STORE:
        put(writer, " %s,%d(%s)", f->rs2, riscv64_imm_s(word), f->rs1);
        break;
    case FORMAT_FP_STORE:
        put(writer, " %s,%d(%s)", f->fs2, riscv64_imm_s(word), f->rs1);
        break;
    case FORMAT_U:
        put(writer, " %s,0x%x", f->rd, word >> 12);
        break;
    case FORMAT_LR:
        put(writer, "%s %s,(%s)", ORDERINGS[word >> 25 & 3], f->rd, f->rs1);
        break;
    case FORMAT_AMO:
        put(writer, "%s %s,%s,(%s)", ORDERINGS[word >> 25 & 3], f->rd, f->rs2, f->rs1);
        break;
    case FORMAT_FP2:
    case FORMAT_FP2_ROUND:
        put(writer, " %s,%s,%s", f->fd, f->fs1, f->fs2);
        break;
    case FORMAT_FP3_ROUND:
        put(writer, " %s,%s,%s,%s", f->fd, f->fs1, f->fs2, f->fs3);
        break;
    case FORMAT_FP1_ROUND:
        put(writer, " %s,%s", f->fd, f->fs1);
        break;
    case FORMAT_FP_COMPARE:
        put(writer, " %s,%s,%s", f->rd, f->fs1, f->fs2);
        break;
    case FORMAT_FP_TO_INT:
    case FORMAT_FP_TO_INT_ROUND:
        put(writer, " %s,%s", f->rd, f->fs1);
        break;
    case FORMAT_INT_TO_FP:
    case FORMAT_INT_TO_FP_ROUND:
        put(writer, " %s,%s", f->fd, f->rs1);
        break;
    case FORMAT_SFENCE:
        if (f->rs2_number != 0)
            put(writer, " %s,%s", f->rs1, f->rs2);
        else if (f->rs1_number != 0)
            put(writer, " %s", f->rs1);
        break;
    default:
        break;
    }
    if (format == FORMAT_FP1_ROUND || format == FORMAT_FP2_ROUND || format == FORMAT_FP3_ROUND ||
        format == FORMAT_FP_TO_INT_ROUND || format == FORMAT_INT_TO_FP_ROUND)
        put_rounding(writer, f);
}

static void put_instruction(struct writer *writer, const struct fields *f, unsigned format) {
    uint64_t target;
    switch (format) {
    case FORMAT_I:
        if (!put_alias_li(writer, f) && !put_alias_of_two(writer, f))
            put_plain(writer, f, format);
        break;
    case FORMAT_R:
        if (!put_alias_of_two(writer, f))
            put_plain(writer, f, format);
        break;
    case FORMAT_FP2:
        if (!put_alias_fp(writer, f))
            put_plain(writer, f, format);
        break;
    case FORMAT_BRANCH:
        target = f->address + (uint64_t)(int64_t)riscv64_imm_b(f->word);
        if (!put_alias_branch(writer, f, target))
            put(writer, "%s %s,%s,0x%" PRIx64, f->name, f->rs1, f->rs2, target);
        break;
    case FORMAT_JAL:
        target = f->address + (uint64_t)(int64_t)riscv64_imm_j(f->word);
        put(writer, f->rd_number == 0 ? "j " : "jal ");
        if (f->rd_number > 1)
            put(writer, "%s,", f->rd);
        put(writer, "0x%" PRIx64, target);
        break;
    case FORMAT_JALR:
        put_jalr(writer, f);
        break;
    case FORMAT_FENCE:
        put_fence(writer, f);
        break;
    case FORMAT_CSR:
    case FORMAT_CSR_IMM:
        put_csr_access(writer, f);
        break;
    default:
        put_plain(writer, f, format);
    }
}

size_t riscv64_text(const uint8_t *bytes, size_t size, uint64_t address, char *text,
                    size_t text_size) {
    struct riscv64_word in;
    if (!riscv64_read(bytes, size, &in))
        return 0;
    struct fields fields = {
        .name = in.row->name,
        .rd = INTEGER_NAMES[riscv64_rd(in.word)],
        .rs1 = INTEGER_NAMES[riscv64_rs1(in.word)],
        .rs2 = INTEGER_NAMES[riscv64_rs2(in.word)],
        .fd = FP_NAMES[riscv64_rd(in.word)],
        .fs1 = FP_NAMES[riscv64_rs1(in.word)],
        .fs2 = FP_NAMES[riscv64_rs2(in.word)],
        .fs3 = FP_NAMES[riscv64_rs3(in.word)],
        .rd_number = riscv64_rd(in.word),
        .rs1_number = riscv64_rs1(in.word),
        .rs2_number = riscv64_rs2(in.word),
        .word = in.word,
        .address = address,
    };
    struct writer writer = {.text = text, .size = text_size};
    put_instruction(&writer, &fields, in.row->format);
    return writer.length;
}
