/* RV64GC machine code -> struct insn, from the rows of riscv64_table.c.
 *
 * x0 is never named. fp instructions do not name the accumulated exception flags or the dynamic
 * rounding mode: BOOM gathers the former at commit and neither is renamed; instead every CSR
 * instruction serialises and flushes, and so do fences and atomics (riscv-boom, exu/decode.scala,
 * columns is_unique and flush_on_commit; TIP, "Serialized instructions"). */
#include "isa/isa_internal.h"
#include "isa/riscv64_table.h"

enum { RA = 1, T0 = 5 };

static uint8_t integer_register(unsigned number) {
    return number == 0 ? REG_NONE : (uint8_t)number;
}

static uint8_t fp_register(unsigned number) {
    return (uint8_t)(REG_VECTOR + number);
}

static void add_sources(const struct riscv64_word *in, struct insn *insn) {
    uint32_t word = in->word;
    switch (in->row->format) {
    case FORMAT_R:
    case FORMAT_BRANCH:
    case FORMAT_SFENCE:
        insn_add_source(insn, integer_register(riscv64_rs1(word)));
        insn_add_source(insn, integer_register(riscv64_rs2(word)));
        break;
    case FORMAT_I:
    case FORMAT_SHIFT:
    case FORMAT_JALR:
    case FORMAT_CSR:
    case FORMAT_INT_TO_FP:
    case FORMAT_INT_TO_FP_ROUND:
        insn_add_source(insn, integer_register(riscv64_rs1(word)));
        break;
    case FORMAT_STORE:
    case FORMAT_AMO:
        insn_add_source(insn, integer_register(riscv64_rs2(word)));
        break;
    case FORMAT_FP_STORE:
        insn_add_source(insn, fp_register(riscv64_rs2(word)));
        break;
    case FORMAT_FP3_ROUND:
        insn_add_source(insn, fp_register(riscv64_rs1(word)));
        insn_add_source(insn, fp_register(riscv64_rs2(word)));
        insn_add_source(insn, fp_register(riscv64_rs3(word)));
        break;
    case FORMAT_FP2:
    case FORMAT_FP2_ROUND:
    case FORMAT_FP_COMPARE:
        insn_add_source(insn, fp_register(riscv64_rs1(word)));
        insn_add_source(insn, fp_register(riscv64_rs2(word)));
        break;
    case FORMAT_FP1_ROUND:
    case FORMAT_FP_TO_INT:
    case FORMAT_FP_TO_INT_ROUND:
        insn_add_source(insn, fp_register(riscv64_rs1(word)));
        break;
    default:
        break;
    }
}

static void add_destination(const struct riscv64_word *in, struct insn *insn) {
    unsigned rd = riscv64_rd(in->word);
    switch (in->row->format) {
    case FORMAT_NONE:
    case FORMAT_STORE:
    case FORMAT_FP_STORE:
    case FORMAT_BRANCH:
    case FORMAT_FENCE:
    case FORMAT_SFENCE:
        break;
    case FORMAT_FP_LOAD:
    case FORMAT_FP1_ROUND:
    case FORMAT_FP2:
    case FORMAT_FP2_ROUND:
    case FORMAT_FP3_ROUND:
    case FORMAT_INT_TO_FP:
    case FORMAT_INT_TO_FP_ROUND:
        insn_add_destination(insn, fp_register(rd));
        break;
    default:
        insn_add_destination(insn, integer_register(rd));
    }
}

static void add_memory(const struct riscv64_word *in, struct insn *insn) {
    unsigned format = in->row->format;
    bool atomic = format == FORMAT_AMO || format == FORMAT_LR;
    bool load = format == FORMAT_LOAD || format == FORMAT_FP_LOAD || format == FORMAT_LR;
    bool store = format == FORMAT_STORE || format == FORMAT_FP_STORE || format == FORMAT_AMO;
    if (!load && !store)
        return;
    if (format == FORMAT_AMO && in->row->operation != OP_STORE)
        load = true; /* all but sc read */
    insn->memory_count = 1;
    insn->memory[0] = (struct insn_memory){
        .size_bytes = (uint16_t)(1 << (riscv64_funct3(in->word) & 3)),
        .is_load = load,
        .is_store = store,
        .base = integer_register(riscv64_rs1(in->word)),
        .index = REG_NONE,
    };
    if (atomic)
        insn->flags |= INSN_ATOMIC | INSN_SERIALISING | INSN_FLUSHING;
    if (format == FORMAT_AMO)
        insn->flags |= INSN_FENCE_LOAD | INSN_FENCE_STORE;
    if (format == FORMAT_LOAD && riscv64_rd(in->word) == 0)
        insn->flags |= INSN_PREFETCH;
}

/* Return-stack hints of jalr: the link registers are ra and t0 (volume I, section 2.5). A jalr
 * with two different link registers is a coroutine switch, which pops and pushes; it is called an
 * indirect call here. */
static bool is_link(unsigned reg) {
    return reg == RA || reg == T0;
}

static void set_branch(const struct riscv64_word *in, struct insn *insn) {
    unsigned rd = riscv64_rd(in->word), rs1 = riscv64_rs1(in->word);
    switch (in->row->format) {
    case FORMAT_BRANCH:
        insn->branch = BRANCH_CONDITIONAL;
        insn->target = riscv64_imm_b(in->word);
        break;
    case FORMAT_JAL:
        insn->branch = is_link(rd) ? BRANCH_CALL : BRANCH_JUMP;
        insn->target = riscv64_imm_j(in->word);
        break;
    case FORMAT_JALR:
        insn->branch = is_link(rd)    ? BRANCH_INDIRECT_CALL
                       : is_link(rs1) ? BRANCH_RETURN
                                      : BRANCH_INDIRECT;
        break;
    default:
        break;
    }
}

/* CSRs are read unless csrrw has no destination, written unless csrrs or csrrc has no source. */
static void add_csr(const struct riscv64_word *in, struct insn *insn) {
    unsigned csr = riscv64_csr(in->word);
    bool exchanges = (riscv64_funct3(in->word) & 3) == 1;
    bool reads = !exchanges || riscv64_rd(in->word) != 0;
    bool writes = exchanges || riscv64_rs1(in->word) != 0;
    bool flags = csr == RISCV64_FFLAGS || csr == RISCV64_FCSR;
    bool rounding = csr == RISCV64_FRM || csr == RISCV64_FCSR;
    insn->flags |= INSN_SERIALISING | INSN_FLUSHING;
    if (reads) {
        insn_add_source(insn, flags ? REG_RISCV_FFLAGS : REG_NONE);
        insn_add_source(insn, rounding ? REG_RISCV_FRM : REG_NONE);
    }
    if (writes) {
        insn_add_destination(insn, flags ? REG_RISCV_FFLAGS : REG_NONE);
        insn_add_destination(insn, rounding ? REG_RISCV_FRM : REG_NONE);
    }
}

static void set_system(const struct riscv64_word *in, struct insn *insn) {
    switch (in->row->format) {
    case FORMAT_CSR:
    case FORMAT_CSR_IMM:
        if (in->word == RISCV64_UNIMP)
            insn->flags |= INSN_TRAP;
        else
            add_csr(in, insn);
        break;
    case FORMAT_FENCE:
        if (in->word == RISCV64_PAUSE)
            break; /* orders nothing */
        insn->flags |= INSN_SERIALISING | INSN_FLUSHING | INSN_FENCE_LOAD | INSN_FENCE_STORE;
        break;
    case FORMAT_SFENCE:
        insn->flags |= INSN_SERIALISING | INSN_FLUSHING;
        break;
    case FORMAT_NONE:
        switch (in->word) {
        case 0x00000073: /* ecall */
            insn->flags |= INSN_SYSCALL;
            break;
        case 0x00100073: /* ebreak */
        case 0x10500073: /* wfi */
            insn->flags |= INSN_TRAP;
            break;
        default: /* fence.i, returns from traps */
            insn->flags |= INSN_SERIALISING | INSN_FLUSHING;
        }
        break;
    default:
        break;
    }
}

/* mv (addi rd, rs, 0), fmv (fsgnj with equal sources) and nop. */
static void set_idioms(const struct riscv64_word *in, struct insn *insn) {
    bool same_fp = riscv64_rs1(in->word) == riscv64_rs2(in->word);
    if (in->word == 0x00000013) {
        insn->flags |= INSN_NOP;
        insn->operation = OP_NOP;
    } else if ((in->word & 0xfff0707f) == 0x00000013 && insn->source_count == 1 &&
               insn->destination_count == 1) {
        insn->flags |= INSN_MOVE;
    } else if ((in->word & 0xfc00707f) == 0x20000053 && same_fp) {
        insn->flags |= INSN_MOVE;
    }
}

bool riscv64_decode(const uint8_t *bytes, size_t size, struct insn *insn) {
    struct riscv64_word in;
    if (!riscv64_read(bytes, size, &in))
        return false;
    insn->length = in.length;
    insn->operation = in.row->operation;
    add_memory(&in, insn);
    add_sources(&in, insn);
    add_destination(&in, insn);
    set_branch(&in, insn);
    set_system(&in, insn);
    set_idioms(&in, insn);
    insn_add_address_sources(insn);
    return true;
}
