/* x86-64: sources, destinations, memory operands, branches and flags of instructions, each
 * checked by hand against the manuals. */
#include "unit/isa_describe.h"

/* Implicit operands, 32-bit writes (no merge), memory operands, registers shared with addresses. */
static void integer_operands(void **state) {
    (void)state;
    static const struct insn_case ROWS[] = {
        {"48 01 d8", "add rax, rbx", "int_alu rax rbx -> rax CF FLAGS; sets_flags"},
        {"89 d8", "mov eax, ebx", "int_alu rbx -> rax; move"},
        {"48 8d 44 8b 08", "lea rax, [rbx+rcx*4+0x8]", "int_alu rbx rcx -> rax"},
        {"48 6b c3 05", "imul rax, rbx, 0x5", "int_mul rbx -> rax CF FLAGS"},
        {"48 f7 e3", "mul rbx", "int_mul rbx rax -> rax rdx CF FLAGS"},
        {"f7 f9", "idiv ecx", "int_div rcx rax rdx -> rax rdx"},
        {"93", "xchg ebx, eax", "int_alu rbx rax -> rbx rax"},
        {"0f b6 03", "movzx eax, byte ptr [rbx]", "load rbx -> rax; load 1 [rbx]"},
        {"48 63 04 0b", "movsxd rax, dword ptr [rbx+rcx*1]",
         "load rbx rcx -> rax; load 4 [rbx+rcx]"},
        {"01 0c 98", "add dword ptr [rax+rbx*4], ecx",
         "int_alu rcx rax rbx -> CF FLAGS; load store 4 [rax+rbx]"},
        {"48 03 00", "add rax, qword ptr [rax]",
         "int_alu rax -> rax CF FLAGS; load 8 [rax]; sets_flags address_is_data"},
        {"48 89 00", "mov qword ptr [rax], rax", "store rax ->; store 8 [rax]; address_is_data"},
        {"48 89 18", "mov qword ptr [rax], rbx", "store rbx rax ->; store 8 [rax]"},
        {"c7 00 05 00 00 00", "mov dword ptr [rax], 0x5", "store rax ->; store 4 [rax]"},
        {"48 8b 05 10 00 00 00", "mov rax, qword ptr [0x1017]", "load -> rax; load 8 []"},
        {"64 8b 04 25 28 00 00 00", "mov eax, dword ptr fs:[0x28]", "load -> rax; load 4 []"},
        {"99", "cdq", "int_alu rax -> rdx"},
        {"48 0f c8", "bswap rax", "int_alu rax -> rax"},
        {"c4 e2 e3 f6 c1", "mulx rax, rbx, rcx", "int_mul rcx rdx -> rax rbx"},
    };
    CHECK_INSNS(ISA_X86_64, ROWS);
}

/* CF and the other flags apart. A partly written group, or one written on a condition, reads its
 * old value; a flag left undefined beside written ones does not make it merge, and alone is not
 * written. */
static void flags_are_two_groups(void **state) {
    (void)state;
    static const struct insn_case ROWS[] = {
        {"ff c0", "inc eax", "int_alu rax -> rax FLAGS; sets_flags"},
        {"48 ff 0b", "dec qword ptr [rbx]", "int_alu rbx -> FLAGS; load store 8 [rbx]"},
        {"11 d8", "adc eax, ebx", "int_alu rax rbx CF -> rax CF FLAGS"},
        {"19 d8", "sbb eax, ebx", "int_alu rax rbx CF -> rax CF FLAGS"},
        {"0f 92 c0", "setb al", "int_alu rax CF -> rax"},
        {"0f 94 c0", "setz al", "int_alu rax FLAGS -> rax"},
        {"0f 46 c3", "cmovbe eax, ebx", "int_alu rax rbx CF FLAGS -> rax"},
        {"0f 44 c3", "cmovz eax, ebx", "int_alu rax rbx FLAGS -> rax"},
        {"72 0e", "jb 0x1010", "branch CF ->; conditional +16; fuses"},
        {"74 0e", "jz 0x1010", "branch FLAGS ->; conditional +16; fuses"},
        {"76 0e", "jbe 0x1010", "branch CF FLAGS ->; conditional +16; fuses"},
        {"f9", "stc", "int_alu -> CF"},
        {"f5", "cmc", "int_alu CF -> CF"},
        {"c1 e0 03", "shl eax, 0x3", "int_alu rax -> rax CF FLAGS"},
        {"c1 e0 00", "shl eax, 0x0", "int_alu rax -> rax"},
        {"d3 e0", "shl eax, cl", "int_alu rax rcx CF FLAGS -> rax CF FLAGS"},
        {"c1 c0 03", "rol eax, 0x3", "int_alu rax -> rax CF"},
        {"d1 d0", "rcl eax, 0x1", "int_alu rax CF -> rax CF"},
        {"0f a3 d8", "bt eax, ebx", "int_alu rax rbx -> CF"},
        {"0f bc c3", "bsf eax, ebx", "int_alu rbx -> rax CF FLAGS"},
        {"f3 0f bc c3", "tzcnt eax, ebx", "int_alu rbx -> rax CF FLAGS"},
        {"66 0f 38 f6 c3", "adcx eax, ebx", "int_alu rax rbx CF -> rax CF"},
        {"f3 0f 38 f6 c3", "adox eax, ebx", "int_alu rax rbx FLAGS -> rax FLAGS"},
        {"9e", "sahf", "int_alu rax FLAGS -> CF FLAGS"},
        {"9f", "lahf", "int_alu rax CF FLAGS -> rax"},
        {"fd", "std", "int_alu -> DF"},
        {"9c", "pushfq", "store CF FLAGS DF rsp -> rsp; store 8 [rsp]"},
        {"9d", "popfq", "system rsp -> rsp CF FLAGS DF; load 8 [rsp]"},
        {"66 0f 2f c1", "comisd xmm0, xmm1", "fp_misc v0 v1 -> CF FLAGS"},
        {"66 0f 38 17 c1", "ptest xmm0, xmm1", "fp_misc v0 v1 -> CF FLAGS"},
        {"0f b1 0b", "cmpxchg dword ptr [rbx], ecx",
         "int_alu rcx rax rbx -> rax CF FLAGS; load store 4 [rbx]"},
        {"48 0f c7 0f", "cmpxchg16b xmmword ptr [rdi]",
         "int_alu rdx rax rcx rbx FLAGS rdi -> rdx rax FLAGS; load store 16 [rdi]"},
        {"f7 d0", "not eax", "int_alu rax -> rax"},
    };
    CHECK_INSNS(ISA_X86_64, ROWS);
}

/* 8 and 16 bits of a general register, and the low part of a vector register by a legacy SSE
 * instruction, keep the rest of the register: the old value is a source. */
static void narrow_writes_merge(void **state) {
    (void)state;
    static const struct insn_case ROWS[] = {
        {"88 d8", "mov al, bl", "int_alu rax rbx -> rax"},
        {"88 dc", "mov ah, bl", "int_alu rax rbx -> rax"},
        {"66 89 d8", "mov ax, bx", "int_alu rax rbx -> rax"},
        {"8a 03", "mov al, byte ptr [rbx]", "load rax rbx -> rax; load 1 [rbx]"},
        {"0f b6 c4", "movzx eax, ah", "int_alu rax -> rax"},
        {"04 01", "add al, 0x1", "int_alu rax -> rax CF FLAGS; sets_flags"},
        {"3c 01", "cmp al, 0x1", "int_alu rax -> CF FLAGS; sets_flags"},
        {"f3 0f 10 c1", "movss xmm0, xmm1", "vec_alu v0 v1 -> v0"},
        {"f2 0f 10 c1", "movsd xmm0, xmm1", "vec_alu v0 v1 -> v0"},
        {"f2 0f 10 00", "movsd xmm0, qword ptr [rax]", "load rax -> v0; load 8 [rax]"},
        {"f3 0f 10 00", "movss xmm0, dword ptr [rax]", "load rax -> v0; load 4 [rax]"},
        {"c5 f2 10 c2", "vmovss xmm0, xmm1, xmm2", "vec_alu v1 v2 -> v0"},
        {"f3 0f 7e c1", "movq xmm0, xmm1", "vec_alu v1 -> v0"},
        {"66 0f 6e c0", "movd xmm0, eax", "fp_misc rax -> v0"},
        {"f2 0f 2a c0", "cvtsi2sd xmm0, eax", "fp_misc v0 rax -> v0"},
        {"f3 0f 5a c1", "cvtss2sd xmm0, xmm1", "fp_misc v0 v1 -> v0"},
        {"0f 2a c1", "cvtpi2ps xmm0, mm1", "fp_misc v0 st1 -> v0"},
        {"f2 0f 51 c1", "sqrtsd xmm0, xmm1", "fp_sqrt v0 v1 -> v0"},
        {"66 0f 51 c1", "sqrtpd xmm0, xmm1", "fp_sqrt v1 -> v0"},
        {"66 0f 3a 0b c1 01", "roundsd xmm0, xmm1, 0x1", "fp_misc v0 v1 -> v0"},
        {"f3 0f 53 c1", "rcpss xmm0, xmm1", "fp_misc v0 v1 -> v0"},
        {"0f 12 00", "movlps xmm0, qword ptr [rax]", "load v0 rax -> v0; load 8 [rax]"},
        {"66 0f 16 00", "movhpd xmm0, qword ptr [rax]", "load v0 rax -> v0; load 8 [rax]"},
        {"0f 12 c1", "movhlps xmm0, xmm1", "vec_perm v0 v1 -> v0"},
        {"0f 14 c1", "unpcklps xmm0, xmm1", "vec_perm v0 v1 -> v0"},
        {"f2 0f 2d c0", "cvtsd2si eax, xmm0", "fp_misc v0 -> rax"},
        {"c5 f3 2a c0", "vcvtsi2sd xmm0, xmm1, eax", "fp_misc v1 rax -> v0"},
        {"c5 f3 51 c2", "vsqrtsd xmm0, xmm1, xmm2", "fp_sqrt v1 v2 -> v0"},
        {"f2 0f 58 c1", "addsd xmm0, xmm1", "fp_add v0 v1 -> v0"},
        {"c5 f3 58 c2", "vaddsd xmm0, xmm1, xmm2", "fp_add v1 v2 -> v0"},
        {"66 0f 3a 22 c0 01", "pinsrd xmm0, eax, 0x1", "vec_perm v0 rax -> v0"},
    };
    CHECK_INSNS(ISA_X86_64, ROWS);
}

/* Zero idioms, other results that do not depend on their inputs, register copies, no-ops. */
static void idioms(void **state) {
    (void)state;
    static const struct insn_case ROWS[] = {
        {"31 c0", "xor eax, eax", "int_alu -> rax CF FLAGS; zero"},
        {"48 31 c0", "xor rax, rax", "int_alu -> rax CF FLAGS; zero"},
        {"45 31 c0", "xor r8d, r8d", "int_alu -> r8 CF FLAGS; zero"},
        {"66 31 c0", "xor ax, ax", "int_alu rax -> rax CF FLAGS"},
        {"31 d8", "xor eax, ebx", "int_alu rax rbx -> rax CF FLAGS"},
        {"48 29 c9", "sub rcx, rcx", "int_alu -> rcx CF FLAGS; zero"},
        {"19 c0", "sbb eax, eax", "int_alu CF -> rax CF FLAGS"},
        {"66 0f ef c9", "pxor xmm1, xmm1", "vec_alu -> v1; zero"},
        {"0f 57 c9", "xorps xmm1, xmm1", "vec_alu -> v1; zero"},
        {"0f ef c9", "pxor mm1, mm1", "vec_alu -> st1; zero"},
        {"c5 e9 ef ca", "vpxor xmm1, xmm2, xmm2", "vec_alu -> v1; zero"},
        {"c5 f1 ef ca", "vpxor xmm1, xmm1, xmm2", "vec_alu v1 v2 -> v1"},
        {"c5 ec 57 ca", "vxorps ymm1, ymm2, ymm2", "vec_alu -> v1; zero"},
        {"62 f1 6d 48 ef ca", "vpxord zmm1, zmm2, zmm2", "vec_alu -> v1; zero"},
        {"62 f1 6d 49 ef ca", "vpxord zmm1 {k1}, zmm2, zmm2", "vec_alu v1 k1 v2 -> v1"},
        {"66 0f fa c9", "psubd xmm1, xmm1", "vec_alu -> v1; zero"},
        {"66 0f 64 c9", "pcmpgtb xmm1, xmm1", "vec_alu -> v1; zero"},
        {"66 0f 76 c9", "pcmpeqd xmm1, xmm1", "vec_alu -> v1"},
        {"c5 ed 74 ca", "vpcmpeqb ymm1, ymm2, ymm2", "vec_alu -> v1"},
        {"66 0f 76 ca", "pcmpeqd xmm1, xmm2", "vec_alu v1 v2 -> v1"},
        {"48 89 d8", "mov rax, rbx", "int_alu rbx -> rax; move"},
        {"89 c0", "mov eax, eax", "int_alu rax -> rax; move"},
        {"8c e0", "mov eax, fs", "int_alu -> rax"},
        {"0f 28 ca", "movaps xmm1, xmm2", "vec_alu v2 -> v1; move"},
        {"f3 0f 6f ca", "movdqu xmm1, xmm2", "vec_alu v2 -> v1; move"},
        {"c5 fd 6f ca", "vmovdqa ymm1, ymm2", "vec_alu v2 -> v1; move"},
        {"62 e1 fd 48 6f ca", "vmovdqa64 zmm17, zmm2", "vec_alu v2 -> v17; move"},
        {"62 f1 fd 49 6f ca", "vmovdqa64 zmm1 {k1}, zmm2", "vec_alu v1 k1 v2 -> v1"},
        {"0f be c3", "movsx eax, bl", "int_alu rbx -> rax"},
        {"90", "nop", "nop ->; nop"},
        {"66 0f 1f 04 00", "nop word ptr [rax+rax*1]", "nop ->; nop"},
        {"f3 0f 1e fa", "endbr64", "nop ->; nop"},
        {"66 90", "nop", "nop ->; nop"},
    };
    CHECK_INSNS(ISA_X86_64, ROWS);
}

/* rsp is read for the address only, except when pushed itself. */
static void stack_and_branches(void **state) {
    (void)state;
    static const struct insn_case ROWS[] = {
        {"50", "push rax", "store rax rsp -> rsp; store 8 [rsp]"},
        {"6a 05", "push 0x5", "store rsp -> rsp; store 8 [rsp]"},
        {"ff 33", "push qword ptr [rbx]", "store rbx rsp -> rsp; load 8 [rbx]; store 8 [rsp]"},
        {"54", "push rsp", "store rsp -> rsp; store 8 [rsp]; address_is_data"},
        {"58", "pop rax", "load rsp -> rax rsp; load 8 [rsp]"},
        {"8f 01", "pop qword ptr [rcx]", "store rsp rcx -> rsp; load 8 [rsp]; store 8 [rcx]"},
        {"5c", "pop rsp", "load rsp -> rsp; load 8 [rsp]"},
        {"e8 1b 00 00 00", "call 0x1020", "branch rsp -> rsp; store 8 [rsp]; call +32"},
        {"ff d0", "call rax", "branch rax rsp -> rsp; store 8 [rsp]; indirect_call"},
        {"ff 50 08", "call qword ptr [rax+0x8]",
         "branch rax rsp -> rsp; load 8 [rax]; store 8 [rsp]; indirect_call"},
        {"c3", "ret", "branch rsp -> rsp; load 8 [rsp]; return"},
        {"c2 10 00", "ret 0x10", "branch rsp -> rsp; load 8 [rsp]; return"},
        {"c9", "leave", "load rbp -> rbp rsp; load 8 [rbp]; address_is_data"},
        {"c8 10 00 00", "enter 0x10, 0x0", "system rbp rsp -> rbp rsp; store 8 [rsp]"},
        {"eb 00", "jmp 0x1002", "branch ->; jump +2"},
        {"e9 fb fd ff ff", "jmp 0xe00", "branch ->; jump -512"},
        {"ff e0", "jmp rax", "branch rax ->; indirect"},
        {"ff 24 c5 00 10 00 00", "jmp qword ptr [rax*8+0x1000]",
         "branch rax ->; load 8 [+rax]; indirect"},
        {"e3 02", "jrcxz 0x1004", "branch rcx ->; conditional +4"},
        {"e2 fe", "loop 0x1000", "branch rcx -> rcx; conditional"},
        {"3e ff e0", "notrack jmp rax", "branch rax ->; indirect"},
        {"f2 e9 fa 00 00 00", "bnd jmp 0x1100", "branch ->; jump +256"},
    };
    CHECK_INSNS(ISA_X86_64, ROWS);
}

/* The pointers and the repeat count are read and written; movs loads before it stores. */
static void strings(void **state) {
    (void)state;
    static const struct insn_case ROWS[] = {
        {"a4", "movsb",
         "store rdi rsi DF -> rdi rsi; load 1 [rsi]; store 1 [rdi]; address_is_data"},
        {"f3 48 a5", "rep movsq",
         "store rdi rcx rsi DF -> rcx rdi rsi; load 8 [rsi]; store 8 [rdi]; rep address_is_data"},
        {"f3 ab", "rep stosd",
         "store rdi rax rcx DF -> rdi rcx; store 4 [rdi]; rep address_is_data"},
        {"f2 ae", "repne scasb",
         "int_alu rdi rcx CF FLAGS DF rax -> rcx CF FLAGS rdi; load 1 [rdi]; rep address_is_data"},
        {"f3 a6", "repe cmpsb",
         "int_alu rsi CF FLAGS DF rcx rdi -> rcx CF FLAGS rsi rdi; load 1 [rsi]; load 1 [rdi]; rep "
         "address_is_data"},
        {"ac", "lodsb", "load rsi rax DF -> rax rsi; load 1 [rsi]; address_is_data"},
        {"48 ad", "lodsq", "load rsi DF -> rax rsi; load 8 [rsi]; address_is_data"},
        {"66 ab", "stosw", "store rdi rax DF -> rdi; store 2 [rdi]; address_is_data"},
    };
    CHECK_INSNS(ISA_X86_64, ROWS);
}

static void fences_and_system(void **state) {
    (void)state;
    static const struct insn_case ROWS[] = {
        {"0f ae e8", "lfence", "system ->; serialising fence_load"},
        {"0f ae f0", "mfence", "system ->; fence_load fence_store"},
        {"0f ae f8", "sfence", "system ->; fence_store"},
        {"f0 01 18", "lock add dword ptr [rax], ebx",
         "int_alu rbx rax -> CF FLAGS; load store 4 [rax]; fence_load fence_store atomic"},
        {"f0 0f b1 18", "lock cmpxchg dword ptr [rax], ebx",
         "int_alu rax rbx -> rax CF FLAGS; load store 4 [rax]; fence_load fence_store atomic "
         "address_is_data"},
        {"87 18", "xchg dword ptr [rax], ebx",
         "int_alu rbx rax -> rbx; load store 4 [rax]; fence_load fence_store atomic"},
        {"0f c1 18", "xadd dword ptr [rax], ebx",
         "int_alu rbx rax -> rbx CF FLAGS; load store 4 [rax]"},
        {"0f a2", "cpuid", "system rax rcx -> rax rbx rcx rdx; serialising"},
        {"0f 31", "rdtsc", "system -> rax rdx"},
        {"f3 90", "pause", "system ->"},
        {"0f 05", "syscall", "system rax -> rax rcx r11; syscall"},
        {"cd 80", "int 0x80", "system rax -> rax rcx r11; syscall"},
        {"cc", "int3", "system ->; trap"},
        {"0f 0b", "ud2", "system ->; trap"},
        {"f4", "hlt", "system ->; trap"},
        {"48 cf", "iretq", "branch rsp -> rsp CF FLAGS DF; load 40 [rsp]; indirect; serialising"},
        {"0f 01 d0", "xgetbv", "system rcx -> rdx rax"},
        {"0f ae 23", "xsave [rbx]", "system rdx rax FPCONTROL rbx ->; load store 0 [rbx]"},
        {"0f ae 0b", "fxrstor [rbx]", "system rbx -> FPCONTROL; load 0 [rbx]"},
        {"0f ae 1c 24", "stmxcsr dword ptr [rsp]", "system FPCONTROL rsp ->; store 4 [rsp]"},
        {"0f ae 14 24", "ldmxcsr dword ptr [rsp]", "system rsp -> FPCONTROL; load 4 [rsp]"},
        {"0f 18 48 40", "prefetcht0 byte ptr [rax+0x40]", "load rax ->; load 1 [rax]; prefetch"},
        {"0f 0d 08", "prefetchw byte ptr [rax]", "load rax ->; load 1 [rax]; prefetch"},
        {"0f ae 38", "clflush zmmword ptr [rax]", "system rax ->; load 64 [rax]"},
        {"0f c7 f0", "rdrand eax", "system -> rax CF FLAGS"},
    };
    CHECK_INSNS(ISA_X86_64, ROWS);
}

/* What fuses with a conditional branch: no memory destination, no immediate with a rip-relative
 * operand, no zero idiom. */
static void fusion(void **state) {
    (void)state;
    static const struct insn_case ROWS[] = {
        {"39 d8", "cmp eax, ebx", "int_alu rax rbx -> CF FLAGS; sets_flags"},
        {"83 3b 05", "cmp dword ptr [rbx], 0x5",
         "int_alu rbx -> CF FLAGS; load 4 [rbx]; sets_flags"},
        {"83 3d 00 01 00 00 05", "cmp dword ptr [0x1107], 0x5", "int_alu -> CF FLAGS; load 4 []"},
        {"39 05 00 01 00 00", "cmp dword ptr [0x1106], eax",
         "int_alu rax -> CF FLAGS; load 4 []; sets_flags"},
        {"84 c0", "test al, al", "int_alu rax -> CF FLAGS; sets_flags"},
        {"83 e0 07", "and eax, 0x7", "int_alu rax -> rax CF FLAGS; sets_flags"},
        {"83 20 07", "and dword ptr [rax], 0x7", "int_alu rax -> CF FLAGS; load store 4 [rax]"},
        {"83 e8 01", "sub eax, 0x1", "int_alu rax -> rax CF FLAGS; sets_flags"},
        {"29 c0", "sub eax, eax", "int_alu -> rax CF FLAGS; zero"},
        {"09 d8", "or eax, ebx", "int_alu rax rbx -> rax CF FLAGS"},
        {"ff c9", "dec ecx", "int_alu rcx -> rcx FLAGS; sets_flags"},
        {"78 06", "js 0x1008", "branch FLAGS ->; conditional +8; fuses"},
    };
    CHECK_INSNS(ISA_X86_64, ROWS);
}

/* Masks, broadcasts, gathers (size: all lanes), loads that only copy and those that compute. */
static void vectors(void **state) {
    (void)state;
    static const struct insn_case ROWS[] = {
        {"c5 f4 58 00", "vaddps ymm0, ymm1, ymmword ptr [rax]",
         "fp_add v1 rax -> v0; load 32 [rax]"},
        {"62 f1 74 58 58 00", "vaddps zmm0, zmm1, dword ptr [rax] {1to16}",
         "fp_add v1 rax -> v0; load 4 [rax]"},
        {"62 f1 74 49 58 c2", "vaddps zmm0 {k1}, zmm1, zmm2", "fp_add v0 k1 v1 v2 -> v0"},
        {"62 f1 74 c9 58 c2", "vaddps zmm0 {k1} {z}, zmm1, zmm2", "fp_add k1 v1 v2 -> v0"},
        {"62 e1 04 40 58 c2", "vaddps zmm16, zmm31, zmm2", "fp_add v31 v2 -> v16"},
        {"c4 e2 f5 b8 c2", "vfmadd231pd ymm0, ymm1, ymm2", "fp_fma v0 v1 v2 -> v0"},
        {"c4 e2 71 99 00", "vfmadd132ss xmm0, xmm1, dword ptr [rax]",
         "fp_fma v0 v1 rax -> v0; load 4 [rax]"},
        {"c4 e2 ed 92 04 c8", "vgatherdpd ymm0, qword ptr [rax+xmm1*8], ymm2",
         "vec_perm v0 v2 rax v1 -> v0 v2; load 32 [rax+v1]; gather"},
        {"c4 e2 6d 90 04 88", "vpgatherdd ymm0, dword ptr [rax+ymm1*4], ymm2",
         "vec_perm v0 v2 rax v1 -> v0 v2; load 32 [rax+v1]; gather"},
        {"c4 e2 6d 93 04 88", "vgatherqps xmm0, dword ptr [rax+ymm1*4], xmm2",
         "vec_perm v0 v2 rax v1 -> v0 v2; load 16 [rax+v1]; gather"},
        {"62 f2 7d 49 92 04 88", "vgatherdps zmm0 {k1}, dword ptr [rax+zmm1*4]",
         "vec_perm v0 k1 rax v1 -> v0 k1; load 64 [rax+v1]; gather"},
        {"62 f2 fd 4a a0 1c c8", "vpscatterdq qword ptr [rax+ymm1*8] {k2}, zmm3",
         "vec_perm k2 v3 rax v1 -> k2; store 64 [rax+v1]; gather"},
        {"c4 e2 75 2c 00", "vmaskmovps ymm0, ymm1, ymmword ptr [rax]",
         "load v1 rax -> v0; load 32 [rax]"},
        {"c4 e2 7d 2e 08", "vmaskmovps ymmword ptr [rax], ymm0, ymm1",
         "store v0 v1 rax ->; store 32 [rax]"},
        {"62 f1 7f 49 6f 00", "vmovdqu8 zmm0 {k1}, zmmword ptr [rax]",
         "load v0 k1 rax -> v0; load 64 [rax]"},
        {"62 f1 7f 49 7f 00", "vmovdqu8 zmmword ptr [rax] {k1}, zmm0",
         "store k1 v0 rax ->; store 64 [rax]"},
        {"c4 e2 7d 18 00", "vbroadcastss ymm0, dword ptr [rax]", "load rax -> v0; load 4 [rax]"},
        {"c4 e2 7d 18 c1", "vbroadcastss ymm0, xmm1", "vec_perm v1 -> v0"},
        {"62 f2 7d 48 7a c0", "vpbroadcastb zmm0, eax", "vec_perm rax -> v0"},
        {"62 f1 7d 48 74 c9", "vpcmpeqb k1, zmm0, zmm1", "vec_alu v0 v1 -> k1"},
        {"c4 e1 fb 93 c1", "kmovq rax, k1", "fp_misc k1 -> rax"},
        {"c4 e1 f9 98 c9", "kortestd k1, k1", "vec_alu k1 -> CF FLAGS"},
        {"c4 e3 7d 39 00 01", "vextracti128 xmmword ptr [rax], ymm0, 0x1",
         "vec_perm v0 rax ->; store 16 [rax]"},
        {"c4 e3 75 38 00 01", "vinserti128 ymm0, ymm1, xmmword ptr [rax], 0x1",
         "vec_perm v1 rax -> v0; load 16 [rax]"},
        {"c4 e2 75 36 c2", "vpermd ymm0, ymm1, ymm2", "vec_perm v1 v2 -> v0"},
        {"66 0f 38 00 c1", "pshufb xmm0, xmm1", "vec_perm v0 v1 -> v0"},
        {"66 0f 70 00 01", "pshufd xmm0, xmmword ptr [rax], 0x1",
         "vec_perm rax -> v0; load 16 [rax]"},
        {"66 0f 3a 0f c1 04", "palignr xmm0, xmm1, 0x4", "vec_perm v0 v1 -> v0"},
        {"66 0f 38 40 c1", "pmulld xmm0, xmm1", "vec_mul v0 v1 -> v0"},
        {"66 0f f5 c1", "pmaddwd xmm0, xmm1", "vec_mul v0 v1 -> v0"},
        {"0f 5e c1", "divps xmm0, xmm1", "fp_div v0 v1 -> v0"},
        {"c5 fc 51 00", "vsqrtps ymm0, ymmword ptr [rax]", "fp_sqrt rax -> v0; load 32 [rax]"},
        {"66 0f d7 c0", "pmovmskb eax, xmm0", "fp_misc v0 -> rax"},
        {"66 48 0f 3a 16 00 01", "pextrq qword ptr [rax], xmm0, 0x1",
         "vec_perm v0 rax ->; store 8 [rax]"},
        {"66 0f 38 dc c1", "aesenc xmm0, xmm1", "crypto v0 v1 -> v0"},
        {"66 0f 3a 44 c1 00", "pclmulqdq xmm0, xmm1, 0x0", "crypto v0 v1 -> v0"},
        {"0f 38 cb ca", "sha256rnds2 xmm1, xmm2", "crypto v1 v2 v0 -> v1"},
        {"f2 0f 38 f1 c3", "crc32 eax, ebx", "crypto rax rbx -> rax"},
        {"66 0f 3a 63 c1 03", "pcmpistri xmm0, xmm1, 0x3", "vec_mul v0 v1 -> rcx CF FLAGS"},
        {"66 0f 3a 60 c1 03", "pcmpestrm xmm0, xmm1, 0x3", "vec_mul v0 v1 rax rdx -> v0 CF FLAGS"},
        {"66 0f e7 00", "movntdq xmmword ptr [rax], xmm0", "store v0 rax ->; store 16 [rax]"},
        {"66 0f 50 c0", "movmskpd eax, xmm0", "fp_misc v0 -> rax"},
        {"c5 f8 77", "vzeroupper", "nop ->"},
        {"62 f2 75 48 50 c2", "vpdpbusd zmm0, zmm1, zmm2", "vec_mul v0 v1 v2 -> v0"},
        {"c4 e3 79 1d 00 00", "vcvtps2ph qword ptr [rax], xmm0, 0x0",
         "fp_misc v0 rax ->; store 8 [rax]"},
    };
    CHECK_INSNS(ISA_X86_64, ROWS);
}

/* Stack registers are named as encoded; the stack top is not tracked. */
static void x87(void **state) {
    (void)state;
    static const struct insn_case ROWS[] = {
        {"dd 00", "fld qword ptr [rax]", "load rax -> st0; load 8 [rax]"},
        {"d9 c2", "fld st2", "fp_misc st2 -> st0"},
        {"db 00", "fild dword ptr [rax]", "fp_misc rax -> st0; load 4 [rax]"},
        {"db 38", "fstp tbyte ptr [rax]", "store st0 rax ->; store 10 [rax]"},
        {"df 38", "fistp qword ptr [rax]", "fp_misc st0 rax ->; store 8 [rax]"},
        {"de c1", "faddp st1, st0", "fp_add st1 st0 -> st1"},
        {"d8 cb", "fmul st0, st3", "fp_mul st0 st3 -> st0"},
        {"dc 30", "fdiv qword ptr [rax]", "fp_div st0 rax -> st0; load 8 [rax]"},
        {"d9 fa", "fsqrt", "fp_sqrt st0 -> st0"},
        {"d9 fe", "fsin", "fp_div st0 -> st0"},
        {"d9 c9", "fxch st1", "fp_misc st1 st0 -> st1 st0"},
        {"db f1", "fcomi st0, st1", "fp_misc st0 st1 -> CF FLAGS"},
        {"da e9", "fucompp", "fp_misc st0 st1 -> FPCONTROL"},
        {"df e0", "fnstsw ax", "system rax FPCONTROL -> rax"},
        {"d9 38", "fnstcw word ptr [rax]", "system FPCONTROL rax ->; store 2 [rax]"},
        {"d9 28", "fldcw word ptr [rax]", "system rax -> FPCONTROL; load 2 [rax]"},
        {"d9 e0", "fchs", "fp_misc st0 -> st0"},
        {"d9 e8", "fld1", "fp_misc -> st0"},
        {"da c1", "fcmovb st0, st1", "fp_misc st0 st1 CF -> st0"},
    };
    CHECK_INSNS(ISA_X86_64, ROWS);
}

/* Additions that rename may do: of 64 bits, one register and a constant of 11 bits as it stands in
 * the instruction. */
static void additions_of_constants(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        bool adds;
    } ROWS[] = {
        {"48 83 c0 01", true},                    /* add rax, 1 */
        {"48 83 c0 80", true},                    /* add rax, -128 */
        {"48 05 ff 03 00 00", true},              /* add rax, 1023 */
        {"48 05 00 04 00 00", false},             /* add rax, 1024 */
        {"48 05 00 fc ff ff", true},              /* add rax, -1024 */
        {"48 05 ff fb ff ff", false},             /* add rax, -1025 */
        {"49 81 c4 ff 03 00 00", true},           /* add r12, 1023 */
        {"48 2d ff 03 00 00", true},              /* sub rax, 1023 */
        {"48 2d 00 04 00 00", false},             /* sub rax, 1024 */
        {"48 2d 00 fc ff ff", true},              /* sub rax, -1024 */
        {"48 2d ff fb ff ff", false},             /* sub rax, -1025 */
        {"48 83 c4 08", true},                    /* add rsp, 8 */
        {"48 ff c0", true},                       /* inc rax */
        {"49 ff cf", true},                       /* dec r15 */
        {"48 8d 48 08", true},                    /* lea rcx, [rax+8] */
        {"48 8d 00", true},                       /* lea rax, [rax] */
        {"48 8d 44 24 08", true},                 /* lea rax, [rsp+8] */
        {"48 8d 80 ff 03 00 00", true},           /* lea rax, [rax+1023] */
        {"48 8d 80 00 04 00 00", false},          /* lea rax, [rax+1024] */
        {"48 8d 80 00 fc ff ff", true},           /* lea rax, [rax-1024] */
        {"48 8d 80 ff fb ff ff", false},          /* lea rax, [rax-1025] */
        {"48 8d 44 08 08", false},                /* lea rax, [rax+rcx+8] */
        {"48 8d 04 05 08 00 00 00", false},       /* lea rax, [rax*1+8] */
        {"48 8d 05 08 00 00 00", false},          /* lea rax, [rip+8] */
        {"48 8d 04 25 08 00 00 00", false},       /* lea rax, [8] */
        {"67 48 8d 40 08", false},                /* lea rax, [eax+8] */
        {"8d 40 08", false},                      /* lea eax, [rax+8] */
        {"83 c0 01", false},                      /* add eax, 1 */
        {"66 83 c0 01", false},                   /* add ax, 1 */
        {"fe c0", false},                         /* inc al */
        {"ff c0", false},                         /* inc eax */
        {"48 83 00 01", false},                   /* add qword ptr [rax], 1 */
        {"48 ff 00", false},                      /* inc qword ptr [rax] */
        {"48 01 d8", false},                      /* add rax, rbx */
        {"48 03 03", false},                      /* add rax, [rbx] */
        {"48 83 d0 01", false},                   /* adc rax, 1 */
        {"48 83 f8 01", false},                   /* cmp rax, 1 */
        {"48 83 c8 01", false},                   /* or rax, 1 */
        {"48 b8 01 00 00 00 00 00 00 00", false}, /* mov rax, 1 */
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        uint8_t bytes[16];
        struct insn insn;
        const size_t size = parse_hex(ROWS[i].bytes, bytes);
        if (!insn_decode(ISA_X86_64, bytes, size, &insn) || insn.length != size)
            fail_msg("%s does not decode", ROWS[i].bytes);
        if (insn.adds_constant != ROWS[i].adds)
            fail_msg("%s: %d", ROWS[i].bytes, insn.adds_constant);
    }
}

/* Those that Intel's cores take apart: three operands or more, of which the one written is not
 * read, and an index. The operation's µop says so as well. */
static void unlaminated_ones(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        bool apart;
    } ROWS[] = {
        {"c5 f1 fe 04 d3", true},             /* vpaddd xmm0, xmm1, [rbx+rdx*8] */
        {"c5 f9 fe 04 d3", true},             /* vpaddd xmm0, xmm0, [rbx+rdx*8] */
        {"c5 f1 fe 04 d5 00 00 00 00", true}, /* vpaddd xmm0, xmm1, [rdx*8] */
        {"c5 f1 fe 03", false},               /* vpaddd xmm0, xmm1, [rbx] */
        {"c5 f1 fe c2", false},               /* vpaddd xmm0, xmm1, xmm2 */
        {"62 f1 75 48 fe 04 d3", true},       /* vpaddd zmm0, zmm1, [rbx+rdx*8] */
        {"62 f1 75 c9 fe 04 d3", true},       /* vpaddd zmm0 {k1}{z}, zmm1, [rbx+rdx*8] */
        {"62 f1 75 48 76 0c d3", true},       /* vpcmpeqd k1, zmm1, [rbx+rdx*8] */
        {"c5 f0 58 04 d3", true},             /* vaddps xmm0, xmm1, [rbx+rdx*8] */
        {"c4 e3 71 4a 04 d3 20", true},       /* vblendvps xmm0, xmm1, [rbx+rdx*8], xmm2 */
        {"c4 e2 60 f2 04 d3", true},          /* andn eax, ebx, [rbx+rdx*8] */
        {"c4 e2 6b f6 04 d3", true},          /* mulx eax, edx, [rbx+rdx*8] */
        {"c4 e2 75 b8 04 d3", false},         /* vfmadd231ps ymm0, ymm1, [rbx+rdx*8] */
        {"c5 f8 51 04 d3", false},            /* vsqrtps xmm0, [rbx+rdx*8] */
        {"c4 e2 79 1e 04 d3", false},         /* vpabsd xmm0, [rbx+rdx*8] */
        {"c4 e2 79 17 04 d3", false},         /* vptest xmm0, [rbx+rdx*8] */
        {"c5 f8 2e 04 d3", false},            /* vucomiss xmm0, [rbx+rdx*8] */
        {"c5 fc 10 04 d3", false},            /* vmovups ymm0, [rbx+rdx*8] */
        {"c5 fc 11 04 d3", false},            /* vmovups [rbx+rdx*8], ymm0 */
        {"c4 e2 71 92 04 d3", false},         /* vgatherdps xmm0, [rbx+xmm2*8], xmm1 */
        {"66 0f fe 04 d3", false},            /* paddd xmm0, [rbx+rdx*8] */
        {"48 03 04 d3", false},               /* add rax, [rbx+rdx*8] */
        {"48 3b 04 d3", false},               /* cmp rax, [rbx+rdx*8] */
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        uint8_t bytes[16];
        struct insn insn;
        struct uop uops[INSN_MAX_UOPS];
        const size_t size = parse_hex(ROWS[i].bytes, bytes);
        if (!insn_decode(ISA_X86_64, bytes, size, &insn) || insn.length != size)
            fail_msg("%s does not decode", ROWS[i].bytes);
        if (insn.unlaminated != ROWS[i].apart)
            fail_msg("%s: %d", ROWS[i].bytes, insn.unlaminated);
        const int count = insn_crack(&insn, uops);
        assert_int_equal(!!(uops[count - 1].flags & UOP_UNLAMINATED), ROWS[i].apart);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integer_operands),
        cmocka_unit_test(flags_are_two_groups),
        cmocka_unit_test(narrow_writes_merge),
        cmocka_unit_test(idioms),
        cmocka_unit_test(additions_of_constants),
        cmocka_unit_test(unlaminated_ones),
        cmocka_unit_test(stack_and_branches),
        cmocka_unit_test(strings),
        cmocka_unit_test(fences_and_system),
        cmocka_unit_test(fusion),
        cmocka_unit_test(vectors),
        cmocka_unit_test(x87),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
