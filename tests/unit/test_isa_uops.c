/* µops of instructions of both ISAs: order, links, store data, what needs none. */
#include "unit/isa_describe.h"

/* One µop: what only loads, stores, computes or jumps. */
static void plain(void **state) {
    (void)state;
    static const struct insn_case ROWS[] = {
        {"89 d8", "mov eax, ebx", "int_alu rax <- rbx"},
        {"48 01 d8", "add rax, rbx", "int_alu rax CF FLAGS <- rax rbx"},
        {"48 8d 04 0b", "lea rax, [rbx+rcx*1]", "int_alu rax <- rbx rcx"},
        {"48 8b 04 cb", "mov rax, qword ptr [rbx+rcx*8]", "load rax <- [rbx rcx]"},
        {"0f b6 05 08 00 00 00", "movzx eax, byte ptr [0x100f]", "load rax <- []"},
        {"0f 28 00", "movaps xmm0, xmmword ptr [rax]", "load v0 <- [rax]"},
        {"c4 e2 7d 18 00", "vbroadcastss ymm0, dword ptr [rax]", "load v0 <- [rax]"},
        {"48 89 1c 08", "mov qword ptr [rax+rcx*1], rbx", "store [rax rcx] = rbx"},
        {"48 89 00", "mov qword ptr [rax], rax", "store [rax] = rax"},
        {"c7 00 01 00 00 00", "mov dword ptr [rax], 0x1", "store [rax]"},
        {"f3 0f 7f 08", "movdqu xmmword ptr [rax], xmm1", "store [rax] = v1"},
        {"dd 00", "fld qword ptr [rax]", "load st0 <- [rax]"},
        {"dd 18", "fstp qword ptr [rax]", "store [rax] = st0"},
        {"74 06", "jz 0x1008", "branch <- FLAGS"},
        {"ff e0", "jmp rax", "branch <- rax"},
        {"0f 18 08", "prefetcht0 byte ptr [rax]", "load <- [rax]"},
    };
    CHECK_UOPS(ISA_X86_64, ROWS);
}

/* Loads, the operation, stores, linked by temporaries. */
static void with_memory(void **state) {
    (void)state;
    static const struct insn_case ROWS[] = {
        {"48 03 03", "add rax, qword ptr [rbx]",
         "load t0 <- [rbx] | int_alu rax CF FLAGS <- rax t0"},
        {"48 03 00", "add rax, qword ptr [rax]",
         "load t0 <- [rax] | int_alu rax CF FLAGS <- rax t0"},
        {"39 03", "cmp dword ptr [rbx], eax", "load t0 <- [rbx] | int_alu CF FLAGS <- rax t0"},
        {"48 6b 43 08 0a", "imul rax, qword ptr [rbx+0x8], 0xa",
         "load t0 <- [rbx] | int_mul rax CF FLAGS <- t0"},
        {"0f 44 03", "cmovz eax, dword ptr [rbx]",
         "load t0 <- [rbx] | int_alu rax <- rax FLAGS t0"},
        {"8a 03", "mov al, byte ptr [rbx]", "load t0 <- [rbx] | int_alu rax <- rax t0"},
        {"01 0c 98", "add dword ptr [rax+rbx*4], ecx",
         "load t0 <- [rax rbx] | int_alu t1 CF FLAGS <- rcx t0 | store [rax rbx] = t1"},
        {"01 00", "add dword ptr [rax], eax",
         "load t0 <- [rax] | int_alu t1 CF FLAGS <- rax t0 | store [rax] = t1"},
        {"fe 00", "inc byte ptr [rax]",
         "load t0 <- [rax] | int_alu t1 FLAGS <- t0 | store [rax] = t1"},
        {"0f 94 00", "setz byte ptr [rax]", "int_alu t0 <- FLAGS | store [rax] = t0"},
        {"48 11 18", "adc qword ptr [rax], rbx",
         "load t0 <- [rax] | int_alu t1 CF FLAGS <- rbx CF t0 | store [rax] = t1"},
        {"f0 48 0f c1 18", "lock xadd qword ptr [rax], rbx",
         "load t0 <- [rax] | int_alu t1 rbx CF FLAGS <- rbx t0 | store [rax] = t1"},
        {"48 87 18", "xchg qword ptr [rax], rbx",
         "load t0 <- [rax] | int_alu t1 rbx <- rbx t0 | store [rax] = t1"},
        {"48 0f b1 18", "cmpxchg qword ptr [rax], rbx",
         "load t0 <- [rax] | int_alu t1 rax CF FLAGS <- rax rbx t0 | store [rax] = t1"},
        {"f0 48 0f c7 0f", "lock cmpxchg16b xmmword ptr [rdi]",
         "load t0 <- [rdi] | int_alu t1 <- rdx rax rcx rbx | int_alu t2 rdx rax FLAGS <- t1 FLAGS "
         "t0 | store [rdi] = t2"},
        {"f2 0f 59 00", "mulsd xmm0, qword ptr [rax]", "load vt0 <- [rax] | fp_mul v0 <- v0 vt0"},
        {"c4 e2 75 a8 00", "vfmadd213ps ymm0, ymm1, ymmword ptr [rax]",
         "load vt0 <- [rax] | fp_fma v0 <- v0 v1 vt0"},
        {"f2 48 0f 2a 00", "cvtsi2sd xmm0, qword ptr [rax]",
         "load vt0 <- [rax] | fp_misc v0 <- v0 vt0"},
        {"0f 16 00", "movhps xmm0, qword ptr [rax]", "load vt0 <- [rax] | vec_alu v0 <- v0 vt0"},
        {"66 0f 3a 16 00 01", "pextrd dword ptr [rax], xmm0, 0x1",
         "vec_perm vt0 <- v0 | store [rax] = vt0"},
        {"c4 e2 7d 2e 08", "vmaskmovps ymmword ptr [rax], ymm0, ymm1",
         "vec_alu vt0 <- v0 v1 | store [rax] = vt0"},
        {"c4 e2 75 2c 00", "vmaskmovps ymm0, ymm1, ymmword ptr [rax]",
         "load vt0 <- [rax] | vec_alu v0 <- v1 vt0"},
        {"48 f7 33", "div qword ptr [rbx]", "load t0 <- [rbx] | int_div rax rdx <- rax rdx t0"},
    };
    CHECK_UOPS(ISA_X86_64, ROWS);
}

/* No-ops need no functional unit; copies and zero idioms are the core's to eliminate. */
static void eliminated(void **state) {
    (void)state;
    static const struct insn_case ROWS[] = {
        {"90", "nop", "nop <-"},
        {"f3 0f 1e fa", "endbr64", "nop <-"},
        {"0f 1f 00", "nop dword ptr [rax]", "nop <-"},
        {"31 c0", "xor eax, eax", "int_alu rax CF FLAGS <-"},
        {"66 0f ef c0", "pxor xmm0, xmm0", "vec_alu v0 <-"},
        {"c5 f8 77", "vzeroupper", "nop <-"},
        {"48 89 d8", "mov rax, rbx", "int_alu rax <- rbx"},
        {"0f 28 c1", "movaps xmm0, xmm1", "vec_alu v0 <- v1"},
    };
    CHECK_UOPS(ISA_X86_64, ROWS);
}

static void many_results(void **state) {
    (void)state;
    static const struct insn_case ROWS[] = {
        {"48 f7 e3", "mul rbx", "int_mul rax rdx CF FLAGS <- rbx rax"},
        {"48 f7 f3", "div rbx", "int_div rax rdx <- rbx rax rdx"},
        {"0f a2", "cpuid", "system rax rbx rcx rdx <- rax rcx"},
        {"66 0f 3a 61 c1 03", "pcmpestri xmm0, xmm1, 0x3", "vec_mul rcx CF FLAGS <- v0 v1 rax rdx"},
    };
    CHECK_UOPS(ISA_X86_64, ROWS);
}

/* The update of rsp by push, pop, call and ret costs no µop and no dependence; leave does compute
 * it. */
static void stack(void **state) {
    (void)state;
    static const struct insn_case ROWS[] = {
        {"50", "push rax", "store [rsp] = rax"},
        {"6a 01", "push 0x1", "store [rsp]"},
        {"54", "push rsp", "store [rsp] = rsp"},
        {"ff 33", "push qword ptr [rbx]", "load t0 <- [rbx] | store [rsp] = t0"},
        {"58", "pop rax", "load rax <- [rsp]"},
        {"8f 03", "pop qword ptr [rbx]", "load t0 <- [rsp] | store [rbx] = t0"},
        {"5c", "pop rsp", "load rsp <- [rsp]"},
        {"9c", "pushfq", "int_alu t0 <- CF FLAGS DF | store [rsp] = t0"},
        {"9d", "popfq", "load t0 <- [rsp] | system CF FLAGS DF <- t0"},
        {"e8 fb 00 00 00", "call 0x1100", "store [rsp] | branch <-"},
        {"ff d0", "call rax", "store [rsp] | branch <- rax"},
        {"ff 13", "call qword ptr [rbx]", "load t0 <- [rbx] | store [rsp] | branch <- t0"},
        {"c3", "ret", "load t0 <- [rsp] | branch <- t0"},
        {"ff 23", "jmp qword ptr [rbx]", "load t0 <- [rbx] | branch <- t0"},
        {"c9", "leave", "int_alu rsp <- rbp | load rbp <- [rbp]"},
        {"48 03 24 24", "add rsp, qword ptr [rsp]",
         "load t0 <- [rsp] | int_alu rsp CF FLAGS <- rsp t0"},
        {"48 8b 64 24 08", "mov rsp, qword ptr [rsp+0x8]", "load rsp <- [rsp]"},
        {"48 83 c4 08", "add rsp, 0x8", "int_alu rsp CF FLAGS <- rsp"},
    };
    CHECK_UOPS(ISA_X86_64, ROWS);
}

/* One element, then the step of the pointers and the count. */
static void strings(void **state) {
    (void)state;
    static const struct insn_case ROWS[] = {
        {"a4", "movsb", "load t0 <- [rsi] | store [rdi] = t0 | int_alu rdi rsi <- rdi rsi DF"},
        {"f3 48 a5", "rep movsq",
         "load t0 <- [rsi] | store [rdi] = t0 | int_alu rcx rdi rsi <- rcx rdi rsi DF"},
        {"f3 ab", "rep stosd", "store [rdi] = rax | int_alu rdi rcx <- rdi rcx DF"},
        {"ac", "lodsb", "load t0 <- [rsi] | int_alu rax <- rax t0 | int_alu rsi <- rsi DF"},
        {"48 ad", "lodsq", "load rax <- [rsi] | int_alu rsi <- rsi DF"},
        {"f2 ae", "repne scasb",
         "load t0 <- [rdi] | int_alu CF FLAGS <- CF FLAGS rax t0 | int_alu rcx rdi <- rcx rdi DF"},
        {"f3 a6", "repe cmpsb",
         "load t0 <- [rsi] | load t1 <- [rdi] | int_alu CF FLAGS <- CF FLAGS t0 t1 | int_alu rcx "
         "rsi rdi <- rcx rsi rdi DF"},
    };
    CHECK_UOPS(ISA_X86_64, ROWS);
}

/* One load for all lanes. */
static void gathers(void **state) {
    (void)state;
    static const struct insn_case ROWS[] = {
        {"c4 e2 ed 92 04 c8", "vgatherdpd ymm0, qword ptr [rax+xmm1*8], ymm2",
         "load vt0 <- [rax v1] | vec_perm v0 v2 <- v0 v2 vt0"},
        {"62 f2 fd 49 91 04 88", "vpgatherqq zmm0 {k1}, qword ptr [rax+zmm1*4]",
         "load vt0 <- [rax v1] | vec_perm v0 k1 <- v0 k1 vt0"},
        {"62 f2 7d 4a a2 1c c8", "vscatterdps dword ptr [rax+zmm1*8] {k2}, zmm3",
         "vec_perm vt0 k2 <- k2 v3 | store [rax v1] = vt0"},
    };
    CHECK_UOPS(ISA_X86_64, ROWS);
}

static void riscv64(void **state) {
    (void)state;
    static const struct insn_case ROWS[] = {
        {"33 85 c5 00", "add a0,a1,a2", "int_alu x10 <- x11 x12"},
        {"2e 85", "mv a0,a1", "int_alu x10 <- x11"},
        {"01 00", "nop", "nop <-"},
        {"88 65", "ld a0,8(a1)", "load x10 <- [x11]"},
        {"0c e5", "sd a1,8(a0)", "store [x10] = x11"},
        {"08 e5", "sd a0,8(a0)", "store [x10] = x10"},
        {"23 34 05 00", "sd zero,8(a0)", "store [x10]"},
        {"08 a5", "fsd fa0,8(a0)", "store [x10] = f10"},
        {"03 20 05 00", "lw zero,0(a0)", "load <- [x10]"},
        {"63 08 b5 00", "beq a0,a1,0x1010", "branch <- x10 x11"},
        {"ef 00 00 01", "jal 0x1010", "branch x1 <-"},
        {"82 97", "jalr a5", "branch x1 <- x15"},
        {"82 80", "ret", "branch <- x1"},
        {"33 85 c5 02", "mul a0,a1,a2", "int_mul x10 <- x11 x12"},
        {"33 c5 c5 02", "div a0,a1,a2", "int_div x10 <- x11 x12"},
        {"43 f5 c5 6a", "fmadd.d fa0,fa1,fa2,fa3", "fp_fma f10 <- f11 f12 f13"},
        {"53 f5 05 5a", "fsqrt.d fa0,fa1", "fp_sqrt f10 <- f11"},
        {"53 85 b5 22", "fmv.d fa0,fa1", "fp_misc f10 <- f11"},
        {"2f b5 05 10", "lr.d a0,(a1)", "load x10 <- [x11]"},
        {"2f 35 b6 18", "sc.d a0,a1,(a2)", "int_alu t0 x10 <- x11 | store [x12] = t0"},
        {"2f 25 b6 00", "amoadd.w a0,a1,(a2)",
         "load t0 <- [x12] | int_alu t1 x10 <- x11 t0 | store [x12] = t1"},
        {"2f 30 05 08", "amoswap.d zero,zero,(a0)",
         "load t0 <- [x10] | int_alu t1 <- t0 | store [x10] = t1"},
        {"0f 00 f0 0f", "fence", "system <-"},
        {"73 00 00 00", "ecall", "system <-"},
        {"73 25 10 00", "frflags a0", "system x10 <- FFLAGS"},
        {"f3 15 35 00", "fscsr a1,a0", "system x11 FFLAGS FRM <- x10 FFLAGS FRM"},
    };
    CHECK_UOPS(ISA_RISCV64, ROWS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain),        cmocka_unit_test(with_memory), cmocka_unit_test(eliminated),
        cmocka_unit_test(many_results), cmocka_unit_test(stack),       cmocka_unit_test(strings),
        cmocka_unit_test(gathers),      cmocka_unit_test(riscv64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
