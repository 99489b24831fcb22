/* What instructions compute, beside their text, which stands at 0x1000. */
#include "isa/expression.h"
#include "isa_describe.h"

static void describe_address(const struct expression *expression, enum isa isa,
                             struct description *description) {
    const char *plus = "";
    if (expression->base != REG_NONE) {
        describe_register(description, isa, expression->base);
        plus = " + ";
    }
    if (expression->index != REG_NONE) {
        describe(description, "%s", plus);
        describe_register(description, isa, expression->index);
        describe(description, " << %u", expression->shift);
        plus = " + ";
    }
    if (expression->constant != 0 || !plus[0])
        describe(description, "%s%#llx", plus, (unsigned long long)expression->constant);
}

static void describe_register_or_zero(uint8_t reg, enum isa isa, struct description *description) {
    if (reg == REG_NONE)
        describe(description, "0");
    else
        describe_register(description, isa, reg);
}

static void describe_right(const struct expression *expression, enum isa isa,
                           struct description *description) {
    if (expression->right != REG_NONE)
        describe_register(description, isa, expression->right);
    else
        describe(description, "%#llx", (unsigned long long)expression->limit);
}

static void describe_expression(const struct expression *expression, enum isa isa,
                                struct description *description) {
    static const char *const CONDITIONS[] = {"other", "below", "below or equal", "above",
                                             "above or equal"};
    char width[8];
    snprintf(width, sizeof width, "%u%s", expression->width, expression->is_signed ? "s" : "");
    description->length = 0;
    if (expression->to != REG_NONE) {
        describe_register(description, isa, expression->to);
        describe(description, " = ");
    }
    switch (expression->kind) {
    case EXPRESSION_NONE:
        describe(description, "none");
        break;
    case EXPRESSION_SUM:
        describe_address(expression, isa, description);
        describe(description, " (%s)", width);
        break;
    case EXPRESSION_AND:
        describe_register(description, isa, expression->base);
        describe(description, " & %#llx (%s)", (unsigned long long)expression->constant, width);
        break;
    case EXPRESSION_SHIFT_RIGHT:
        describe_register(description, isa, expression->base);
        describe(description, " >> %u (%s)", expression->shift, width);
        break;
    case EXPRESSION_LOAD:
        describe(description, "[");
        describe_address(expression, isa, description);
        describe(description, "] (%s)", width);
        break;
    case EXPRESSION_COMPARE:
        describe(description, "compare ");
        describe_register(description, isa, expression->base);
        describe(description, ", ");
        describe_right(expression, isa, description);
        describe(description, " (%s)", width);
        break;
    case EXPRESSION_COMPARE_LOADED:
        describe(description, "compare [");
        describe_address(expression, isa, description);
        describe(description, "], ");
        describe_right(expression, isa, description);
        describe(description, " (%s)", width);
        break;
    case EXPRESSION_BRANCH:
        describe(description, "if %s", CONDITIONS[expression->condition]);
        if (isa == ISA_RISCV64) {
            describe(description, " ");
            describe_register_or_zero(expression->base, isa, description);
            describe(description, ", ");
            describe_register_or_zero(expression->right, isa, description);
        }
        break;
    case EXPRESSION_JUMP:
        describe(description, "to ");
        describe_address(expression, isa, description);
        break;
    default:
        describe(description, "to [");
        describe_address(expression, isa, description);
        describe(description, "]");
    }
    if (expression->stack_step != 0)
        describe(description, "; stack %+d", expression->stack_step);
}

static void check_rows(enum isa isa, const struct insn_case *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint8_t bytes[16];
        char text[128];
        struct description description;
        size_t size = parse_hex(rows[i].bytes, bytes);
        insn_text(isa, bytes, size, 0x1000, text, sizeof text);
        struct expression expression = insn_expression(isa, bytes, size, 0x1000);
        describe_expression(&expression, isa, &description);
        assert_string_equal(text, rows[i].text);
        assert_string_equal(description.text, rows[i].expected);
        struct expression cut = insn_expression(isa, bytes, size - 1, 0x1000);
        assert_int_equal(cut.kind, EXPRESSION_NONE);
    }
}

static void x86_64(void **state) {
    (void)state;
    static const struct insn_case ROWS[] = {
        {"48 89 c3", "mov rbx, rax", "rbx = rax (8)"},
        {"89 ff", "mov edi, edi", "rdi = rdi (4)"},
        {"b8 05 00 00 00", "mov eax, 0x5", "rax = 0x5 (4)"},
        {"48 c7 c0 ff ff ff ff", "mov rax, 0xffffffffffffffff", "rax = 0xffffffffffffffff (8)"},
        {"48 b8 f0 de bc 9a 78 56 34 12", "mov rax, 0x123456789abcdef0",
         "rax = 0x123456789abcdef0 (8)"},
        {"48 63 d7", "movsxd rdx, edi", "rdx = rdi (4s)"},
        {"0f b6 c0", "movzx eax, al", "rax = rax (1)"},
        {"0f b6 c4", "movzx eax, ah", "none"},
        {"0f be c0", "movsx eax, al", "none"},
        {"48 0f be c0", "movsx rax, al", "rax = rax (1s)"},
        {"88 c3", "mov bl, al", "none"},
        {"66 89 c3", "mov bx, ax", "none"},
        {"8b 47 08", "mov eax, dword ptr [rdi+0x8]", "rax = [rdi + 0x8] (4)"},
        {"48 8b 45 fc", "mov rax, qword ptr [rbp-0x4]", "rax = [rbp + 0xfffffffffffffffc] (8)"},
        {"0f b7 14 4f", "movzx edx, word ptr [rdi+rcx*2]", "rdx = [rdi + rcx << 1] (2)"},
        {"48 63 04 82", "movsxd rax, dword ptr [rdx+rax*4]", "rax = [rdx + rax << 2] (4s)"},
        {"48 8b 04 fd 00 30 00 00", "mov rax, qword ptr [rdi*8+0x3000]",
         "rax = [rdi << 3 + 0x3000] (8)"},
        {"64 48 8b 04 25 28 00 00 00", "mov rax, qword ptr fs:[0x28]", "none"},
        {"48 89 47 08", "mov qword ptr [rdi+0x8], rax", "none"},
        {"48 8d 15 00 01 00 00", "lea rdx, [0x1107]", "rdx = 0x1107 (8)"},
        {"8d 47 fb", "lea eax, [rdi-0x5]", "rax = rdi + 0xfffffffffffffffb (4)"},
        {"48 8d 04 b7", "lea rax, [rdi+rsi*4]", "rax = rdi + rsi << 2 (8)"},
        {"67 8d 07", "lea eax, [edi]", "none"},
        {"48 01 d0", "add rax, rdx", "rax = rax + rdx << 0 (8)"},
        {"48 83 c4 08", "add rsp, 0x8", "rsp = rsp + 0x8 (8)"},
        {"48 83 ec 28", "sub rsp, 0x28", "rsp = rsp + 0xffffffffffffffd8 (8)"},
        {"48 29 d0", "sub rax, rdx", "none"},
        {"48 03 07", "add rax, qword ptr [rdi]", "none"},
        {"ff c0", "inc eax", "rax = rax + 0x1 (4)"},
        {"48 ff c9", "dec rcx", "rcx = rcx + 0xffffffffffffffff (8)"},
        {"83 e7 07", "and edi, 0x7", "rdi = rdi & 0x7 (4)"},
        {"48 83 e4 e0", "and rsp, 0xffffffffffffffe0", "rsp = rsp & 0xffffffffffffffe0 (8)"},
        {"48 c1 e0 03", "shl rax, 0x3", "rax = rax << 3 (8)"},
        {"c1 e8 08", "shr eax, 0x8", "rax = rax >> 8 (4)"},
        {"d1 f8", "sar eax, 0x1", "none"},
        {"31 c0", "xor eax, eax", "rax = 0 (4)"},
        {"31 d0", "xor eax, edx", "none"},
        {"48 98", "cdqe", "rax = rax (4s)"},
        {"83 ff 05", "cmp edi, 0x5", "compare rdi, 0x5 (4)"},
        {"3c 5a", "cmp al, 0x5a", "compare rax, 0x5a (1)"},
        {"48 39 d0", "cmp rax, rdx", "compare rax, rdx (8)"},
        {"80 3f 03", "cmp byte ptr [rdi], 0x3", "compare [rdi], 0x3 (1)"},
        {"39 44 8f 08", "cmp dword ptr [rdi+rcx*4+0x8], eax",
         "compare [rdi + rcx << 2 + 0x8], rax (4)"},
        {"3b 47 08", "cmp eax, dword ptr [rdi+0x8]", "none"},
        {"80 fc 01", "cmp ah, 0x1", "none"},
        {"85 c0", "test eax, eax", "none"},
        {"72 fe", "jb 0x1000", "if below"},
        {"76 fe", "jbe 0x1000", "if below or equal"},
        {"77 fe", "jnbe 0x1000", "if above"},
        {"73 fe", "jnb 0x1000", "if above or equal"},
        {"74 fe", "jz 0x1000", "if other"},
        {"eb fe", "jmp 0x1000", "none"},
        {"ff e0", "jmp rax", "to rax"},
        {"ff 24 fd 00 30 00 00", "jmp qword ptr [rdi*8+0x3000]", "to [rdi << 3 + 0x3000]"},
        {"ff 25 00 01 00 00", "jmp qword ptr [0x1106]", "to [0x1106]"},
        {"ff d0", "call rax", "to rax"},
        {"ff 50 08", "call qword ptr [rax+0x8]", "to [rax + 0x8]"},
        {"55", "push rbp", "none; stack -8"},
        {"6a 05", "push 0x5", "none; stack -8"},
        {"5b", "pop rbx", "rbx = [rsp] (8); stack +8"},
        {"5c", "pop rsp", "none"},
        {"c9", "leave", "rsp = rbp + 0x8 (8)"},
        {"c3", "ret", "none"},
    };
    check_rows(ISA_X86_64, ROWS, sizeof ROWS / sizeof *ROWS);
}

static void riscv64(void **state) {
    (void)state;
    static const struct insn_case ROWS[] = {
        {"73 00 00 00", "ecall", "none"},
        {"ef 00 00 00", "jal 0x1000", "none"},
        {"17 27 00 00", "auipc a4,0x2", "x14 = 0x3000 (8)"},
        {"b7 37 00 00", "lui a5,0x3", "x15 = 0x3000 (8)"},
        {"67 80 00 00", "ret", "to x1"},
        {"13 85 05 00", "mv a0,a1", "x10 = x11 (8)"},
        {"83 27 07 00", "lw a5,0(a4)", "x15 = [x14] (4s)"},
        {"67 80 07 00", "jr a5", "to x15"},
        {"1b 87 07 00", "sext.w a4,a5", "x14 = x15 (4s)"},
        {"13 45 15 00", "xori a0,a0,1", "none"},
        {"93 07 20 00", "li a5,2", "x15 = 0x2 (8)"},
        {"83 17 27 00", "lh a5,2(a4)", "x15 = [x14 + 0x2] (2s)"},
        {"9b 57 35 00", "srliw a5,a0,0x3", "none"},
        {"83 47 37 00", "lbu a5,3(a4)", "x15 = [x14 + 0x3] (1)"},
        {"80 00", "addi s0,sp,64", "x8 = x2 + 0x40 (8)"},
        {"03 30 81 00", "ld zero,8(sp)", "[x2 + 0x8] (8s)"},
        {"83 37 81 00", "ld a5,8(sp)", "x15 = [x2 + 0x8] (8s)"},
        {"63 e0 a7 00", "bltu a5,a0,0x1000", "if below x15, x10"},
        {"63 00 b5 00", "beq a0,a1,0x1000", "if other x10, x11"},
        {"63 40 b5 00", "blt a0,a1,0x1000", "if other x10, x11"},
        {"b3 87 e7 00", "add a5,a5,a4", "x15 = x15 + x14 << 0 (8)"},
        {"bb 87 e7 00", "addw a5,a5,a4", "x15 = x15 + x14 << 0 (4s)"},
        {"63 60 f0 00", "bltu zero,a5,0x1000", "if below 0, x15"},
        {"23 34 f1 00", "sd a5,8(sp)", "none"},
        {"63 70 f5 00", "bgeu a0,a5,0x1000", "if above or equal x10, x15"},
        {"e7 00 03 01", "jalr 16(t1)", "x1 = to x6 + 0x10"},
        {"93 57 e5 01", "srli a5,a0,0x1e", "x15 = x10 >> 30 (8)"},
        {"13 15 05 02", "slli a0,a0,0x20", "x10 = x10 << 32 (8)"},
        {"33 05 b5 02", "mul a0,a0,a1", "none"},
        {"13 04 01 04", "addi s0,sp,64", "x8 = x2 + 0x40 (8)"},
        {"13 75 f5 0f", "zext.b a0,a0", "x10 = x10 & 0xff (8)"},
        {"02 15", "slli a0,a0,0x20", "x10 = x10 << 32 (8)"},
        {"93 57 35 40", "srai a5,a0,0x3", "none"},
        {"b3 87 e7 40", "sub a5,a5,a4", "none"},
        {"1c 43", "lw a5,0(a4)", "x15 = [x14] (4s)"},
        {"89 47", "li a5,2", "x15 = 0x2 (8)"},
        {"8d 67", "lui a5,0x3", "x15 = 0x3000 (8)"},
        {"a2 67", "ld a5,8(sp)", "x15 = [x2 + 0x8] (8s)"},
        {"39 71", "addi sp,sp,-64", "x2 = x2 + 0xffffffffffffffc0 (8)"},
        {"b7 07 00 80", "lui a5,0x80000", "x15 = 0xffffffff80000000 (8)"},
        {"82 80", "ret", "to x1"},
        {"2e 85", "mv a0,a1", "x10 = x11 (8)"},
        {"82 87", "jr a5", "to x15"},
        {"99 8f", "sub a5,a5,a4", "none"},
        {"ba 97", "add a5,a5,a4", "x15 = x15 + x14 << 0 (8)"},
        {"b9 9f", "addw a5,a5,a4", "x15 = x15 + x14 << 0 (4s)"},
        {"3e e4", "sd a5,8(sp)", "none"},
        {"13 01 01 fc", "addi sp,sp,-64", "x2 = x2 + 0xffffffffffffffc0 (8)"},
        {"83 67 c4 fe", "lwu a5,-20(s0)", "x15 = [x8 + 0xffffffffffffffec] (4)"},
        {"1b 85 b5 ff", "addiw a0,a1,-5", "x10 = x11 + 0xfffffffffffffffb (4s)"},
    };
    check_rows(ISA_RISCV64, ROWS, sizeof ROWS / sizeof *ROWS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(x86_64),
        cmocka_unit_test(riscv64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
