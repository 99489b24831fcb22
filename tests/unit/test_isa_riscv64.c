/* riscv64: sources, destinations, memory operands, branches, flags and text of instructions, each
 * checked by hand against the ISA manual. */
#include "unit/isa_describe.h"

/* x0 is never named: no source, no destination. */
static void integer(void **state) {
    (void)state;
    static const struct insn_case ROWS[] = {
        {"33 85 c5 00", "add a0,a1,a2", "int_alu x11 x12 -> x10"},
        {"13 85 d5 ff", "addi a0,a1,-3", "int_alu x11 -> x10"},
        {"33 05 c0 40", "neg a0,a2", "int_alu x12 -> x10"},
        {"15 45", "li a0,5", "int_alu -> x10"},
        {"2e 85", "mv a0,a1", "int_alu x11 -> x10; move"},
        {"01 00", "nop", "nop ->; nop"},
        {"1b 85 05 00", "sext.w a0,a1", "int_alu x11 -> x10"},
        {"13 95 15 02", "slli a0,a1,0x21", "int_alu x11 -> x10"},
        {"1b d5 35 40", "sraiw a0,a1,0x3", "int_alu x11 -> x10"},
        {"7d 75", "lui a0,0xfffff", "int_alu -> x10"},
        {"17 55 34 12", "auipc a0,0x12345", "int_alu -> x10"},
        {"33 35 b0 00", "snez a0,a1", "int_alu x11 -> x10"},
        {"33 85 c5 02", "mul a0,a1,a2", "int_mul x11 x12 -> x10"},
        {"3b 85 c5 02", "mulw a0,a1,a2", "int_mul x11 x12 -> x10"},
        {"33 d5 c5 02", "divu a0,a1,a2", "int_div x11 x12 -> x10"},
        {"3b e5 c5 02", "remw a0,a1,a2", "int_div x11 x12 -> x10"},
        {"33 80 c5 00", "add zero,a1,a2", "int_alu x11 x12 ->"},
    };
    CHECK_INSNS(ISA_RISCV64, ROWS);
}

static void memory(void **state) {
    (void)state;
    static const struct insn_case ROWS[] = {
        {"03 85 f5 ff", "lb a0,-1(a1)", "load x11 -> x10; load 1 [x11]"},
        {"03 55 45 00", "lhu a0,4(a0)", "load x10 -> x10; load 2 [x10]"},
        {"03 65 81 00", "lwu a0,8(sp)", "load x2 -> x10; load 4 [x2]"},
        {"03 35 00 00", "ld a0,0(zero)", "load -> x10; load 8 []"},
        {"03 b0 07 04", "ld zero,64(a5)", "load x15 ->; load 8 [x15]; prefetch"},
        {"a3 00 b5 00", "sb a1,1(a0)", "store x11 x10 ->; store 1 [x10]"},
        {"23 11 b5 00", "sh a1,2(a0)", "store x11 x10 ->; store 2 [x10]"},
        {"4c c1", "sw a1,4(a0)", "store x11 x10 ->; store 4 [x10]"},
        {"08 e5", "sd a0,8(a0)", "store x10 ->; store 8 [x10]; address_is_data"},
        {"23 34 05 00", "sd zero,8(a0)", "store x10 ->; store 8 [x10]"},
        {"08 25", "fld fa0,8(a0)", "load x10 -> f10; load 8 [x10]"},
        {"27 20 a5 80", "fsw fa0,-2048(a0)", "store f10 x10 ->; store 4 [x10]"},
    };
    CHECK_INSNS(ISA_RISCV64, ROWS);
}

/* As in BOOM: alone in the pipeline, which they flush. */
static void atomics_and_fences(void **state) {
    (void)state;
    static const struct insn_case ROWS[] = {
        {"2f a5 05 10", "lr.w a0,(a1)",
         "load x11 -> x10; load 4 [x11]; serialising flushing atomic"},
        {"2f b5 05 14", "lr.d.aq a0,(a1)",
         "load x11 -> x10; load 8 [x11]; serialising flushing atomic"},
        {"2f 25 b6 1a", "sc.w.rl a0,a1,(a2)",
         "store x11 x12 -> x10; store 4 [x12]; serialising flushing fence_load fence_store atomic"},
        {"2f 25 b6 06", "amoadd.w.aqrl a0,a1,(a2)",
         "int_alu x11 x12 -> x10; load store 4 [x12]; serialising flushing fence_load fence_store "
         "atomic"},
        {"2f 30 b6 08", "amoswap.d zero,a1,(a2)",
         "int_alu x11 x12 ->; load store 8 [x12]; serialising flushing fence_load fence_store "
         "atomic"},
        {"2f 35 06 e0", "amomaxu.d a0,zero,(a2)",
         "int_alu x12 -> x10; load store 8 [x12]; serialising flushing fence_load fence_store "
         "atomic"},
        {"0f 00 f0 0f", "fence", "system ->; serialising flushing fence_load fence_store"},
        {"0f 00 30 02", "fence r,rw", "system ->; serialising flushing fence_load fence_store"},
        {"0f 10 00 00", "fence.i", "system ->; serialising flushing"},
        {"0f 00 00 01", "pause", "system ->"},
        {"73 00 00 12", "sfence.vma", "system ->; serialising flushing"},
    };
    CHECK_INSNS(ISA_RISCV64, ROWS);
}

/* Calls and returns follow the return-stack hints: ra and t0 are link registers. */
static void branches(void **state) {
    (void)state;
    static const struct insn_case ROWS[] = {
        {"63 08 b5 00", "beq a0,a1,0x1010", "branch x10 x11 ->; conditional +16"},
        {"65 d9", "beqz a0,0xff0", "branch x10 ->; conditional -16"},
        {"e3 10 05 00", "bnez a0,0x1800", "branch x10 ->; conditional +2048"},
        {"63 44 a0 00", "bgtz a0,0x1008", "branch x10 ->; conditional +8"},
        {"63 74 b5 00", "bgeu a0,a1,0x1008", "branch x10 x11 ->; conditional +8"},
        {"11 a0", "j 0x1004", "branch ->; jump +4"},
        {"6f b0 10 dc", "j 0xfffffffffff0cdc0", "branch ->; jump -1000000"},
        {"ef 00 80 00", "jal 0x1008", "branch -> x1; call +8"},
        {"ef 02 80 00", "jal t0,0x1008", "branch -> x5; call +8"},
        {"6f 03 80 00", "jal t1,0x1008", "branch -> x6; jump +8"},
        {"82 80", "ret", "branch x1 ->; return"},
        {"82 87", "jr a5", "branch x15 ->; indirect"},
        {"82 82", "jr t0", "branch x5 ->; return"},
        {"67 80 07 01", "jr 16(a5)", "branch x15 ->; indirect"},
        {"82 97", "jalr a5", "branch x15 -> x1; indirect_call"},
        {"82 90", "jalr ra", "branch x1 -> x1; indirect_call"},
        {"e7 82 00 00", "jalr t0,ra", "branch x1 -> x5; indirect_call"},
        {"67 83 87 00", "jalr t1,8(a5)", "branch x15 -> x6; indirect"},
        {"67 85 00 00", "jalr a0,ra", "branch x1 -> x10; return"},
    };
    CHECK_INSNS(ISA_RISCV64, ROWS);
}

/* csrrs and csrrc without a source do not write; csrrw without a destination does not read. */
static void csr_and_system(void **state) {
    (void)state;
    static const struct insn_case ROWS[] = {
        {"73 25 10 00", "frflags a0", "system FFLAGS -> x10; serialising flushing"},
        {"73 10 15 00", "fsflags a0", "system x10 -> FFLAGS; serialising flushing"},
        {"f3 15 15 00", "fsflags a1,a0", "system x10 FFLAGS -> x11 FFLAGS; serialising flushing"},
        {"73 d0 11 00", "fsflagsi 3", "system -> FFLAGS; serialising flushing"},
        {"73 25 20 00", "frrm a0", "system FRM -> x10; serialising flushing"},
        {"73 d5 20 00", "fsrmi a0,1", "system FRM -> x10 FRM; serialising flushing"},
        {"73 25 30 00", "frcsr a0", "system FFLAGS FRM -> x10; serialising flushing"},
        {"73 10 35 00", "fscsr a0", "system x10 -> FFLAGS FRM; serialising flushing"},
        {"73 a5 35 00", "csrrs a0,fcsr,a1",
         "system x11 FFLAGS FRM -> x10 FFLAGS FRM; serialising flushing"},
        {"73 30 20 00", "csrc frm,zero", "system FRM ->; serialising flushing"},
        {"73 25 00 c0", "rdcycle a0", "system -> x10; serialising flushing"},
        {"73 10 05 7c", "csrw 0x7c0,a0", "system x10 ->; serialising flushing"},
        {"73 70 01 10", "csrci sstatus,2", "system ->; serialising flushing"},
        {"73 00 00 00", "ecall", "system ->; syscall"},
        {"02 90", "ebreak", "system ->; trap"},
        {"00 00", "unimp", "system ->; trap"},
        {"73 10 00 c0", "unimp", "system ->; trap"},
        {"73 00 20 30", "mret", "system ->; serialising flushing"},
        {"73 00 50 10", "wfi", "system ->; trap"},
    };
    CHECK_INSNS(ISA_RISCV64, ROWS);
}

static void floating_point(void **state) {
    (void)state;
    static const struct insn_case ROWS[] = {
        {"53 f5 c5 02", "fadd.d fa0,fa1,fa2", "fp_add f11 f12 -> f10"},
        {"53 95 c5 08", "fsub.s fa0,fa1,fa2,rtz", "fp_add f11 f12 -> f10"},
        {"53 f5 b5 12", "fmul.d fa0,fa1,fa1", "fp_mul f11 -> f10"},
        {"53 f5 c5 18", "fdiv.s fa0,fa1,fa2", "fp_div f11 f12 -> f10"},
        {"53 f5 05 5a", "fsqrt.d fa0,fa1", "fp_sqrt f11 -> f10"},
        {"43 f5 c5 6a", "fmadd.d fa0,fa1,fa2,fa3", "fp_fma f11 f12 f13 -> f10"},
        {"4b f5 c5 68", "fnmsub.s fa0,fa1,fa2,fa3", "fp_fma f11 f12 f13 -> f10"},
        {"53 85 b5 22", "fmv.d fa0,fa1", "fp_misc f11 -> f10; move"},
        {"53 95 b5 20", "fneg.s fa0,fa1", "fp_misc f11 -> f10"},
        {"53 a5 b5 22", "fabs.d fa0,fa1", "fp_misc f11 -> f10"},
        {"53 85 c5 22", "fsgnj.d fa0,fa1,fa2", "fp_misc f11 f12 -> f10"},
        {"53 85 c5 2a", "fmin.d fa0,fa1,fa2", "fp_misc f11 f12 -> f10"},
        {"53 25 b5 a2", "feq.d a0,fa0,fa1", "fp_misc f10 f11 -> x10"},
        {"53 00 b5 a0", "fle.s zero,fa0,fa1", "fp_misc f10 f11 ->"},
        {"53 95 05 e2", "fclass.d a0,fa1", "fp_misc f11 -> x10"},
        {"53 85 05 e2", "fmv.x.d a0,fa1", "fp_misc f11 -> x10"},
        {"53 85 05 f0", "fmv.w.x fa0,a1", "fp_misc x11 -> f10"},
        {"53 15 05 c2", "fcvt.w.d a0,fa0,rtz", "fp_misc f10 -> x10"},
        {"53 05 05 d2", "fcvt.d.w fa0,a0", "fp_misc x10 -> f10"},
        {"53 85 05 42", "fcvt.d.s fa0,fa1", "fp_misc f11 -> f10"},
        {"53 75 30 d0", "fcvt.s.lu fa0,zero", "fp_misc -> f10"},
    };
    CHECK_INSNS(ISA_RISCV64, ROWS);
}

/* Each form of immediate at its extremes. */
static void compressed(void **state) {
    (void)state;
    static const struct insn_case ROWS[] = {
        {"08 08", "addi a0,sp,16", "int_alu x2 -> x10"},
        {"39 71", "addi sp,sp,-64", "int_alu x2 -> x2"},
        {"42 25", "fld fa0,16(sp)", "load x2 -> f10; load 8 [x2]"},
        {"12 45", "lw a0,4(sp)", "load x2 -> x10; load 4 [x2]"},
        {"06 e4", "sd ra,8(sp)", "store x1 x2 ->; store 8 [x2]"},
        {"aa df", "sw a0,252(sp)", "store x10 x2 ->; store 4 [x2]"},
        {"68 bd", "fsd fa0,248(a0)", "store f10 x10 ->; store 8 [x10]"},
        {"7c 5f", "lw a5,124(a4)", "load x14 -> x15; load 4 [x14]"},
        {"7d 95", "srai a0,a0,0x3f", "int_alu x10 -> x10"},
        {"01 99", "andi a0,a0,-32", "int_alu x10 -> x10"},
        {"0d 9d", "subw a0,a0,a1", "int_alu x10 x11 -> x10"},
        {"2d 8d", "xor a0,a0,a1", "int_alu x10 x11 -> x10"},
        {"05 75", "lui a0,0xfffe1", "int_alu -> x10"},
        {"7d 35", "addiw a0,a0,-1", "int_alu x10 -> x10"},
        {"01 b0", "j 0x800", "branch ->; jump -2048"},
        {"01 d1", "beqz a0,0xf00", "branch x10 ->; conditional -256"},
        {"02 95", "jalr a0", "branch x10 -> x1; indirect_call"},
        {"2e 95", "add a0,a0,a1", "int_alu x10 x11 -> x10"},
        {"01 00", "nop", "nop ->; nop"},
    };
    CHECK_INSNS(ISA_RISCV64, ROWS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integer),
        cmocka_unit_test(memory),
        cmocka_unit_test(atomics_and_fences),
        cmocka_unit_test(branches),
        cmocka_unit_test(csr_and_system),
        cmocka_unit_test(floating_point),
        cmocka_unit_test(compressed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
