/* What instructions compute and move, by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "isa/work.h"

static void works_are_of_instructions(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint8_t bytes[10], size;
        struct insn_work work;
    } cases[] = {
        {"addsd xmm0, xmm1", {0xf2, 0x0f, 0x58, 0xc1}, 4, {.fp = 1, .lanes = 1}},
        {"addpd xmm0, xmm1", {0x66, 0x0f, 0x58, 0xc1}, 4, {.fp = 2, .lanes = 2}},
        {"vmulps ymm0, ymm1, [rax]",
         {0xc5, 0xf4, 0x59, 0x00},
         4,
         {.fp = 8, .loaded = 32, .lanes = 8}},
        {"vfmadd231pd ymm0, ymm1, [rax]",
         {0xc4, 0xe2, 0xf5, 0xb8, 0x00},
         5,
         {.fp = 8, .loaded = 32, .lanes = 4}},
        {"vfmadd231sd xmm0, xmm1, [rax]",
         {0xc4, 0xe2, 0xf1, 0xb9, 0x00},
         5,
         {.fp = 2, .loaded = 8, .lanes = 1}},
        {"vfmadd231sd xmm0, xmm1, xmm2", {0xc4, 0xe2, 0xf1, 0xb9, 0xc2}, 5, {.fp = 2, .lanes = 1}},
        {"vaddpd zmm0, zmm1, qword ptr [rax]{1to8}",
         {0x62, 0xf1, 0xf5, 0x58, 0x58, 0x00},
         6,
         {.fp = 8, .loaded = 8, .lanes = 8}},
        {"sqrtss xmm0, xmm1", {0xf3, 0x0f, 0x51, 0xc1}, 4, {.fp = 1, .lanes = 1}},
        {"paddd xmm0, xmm1", {0x66, 0x0f, 0xfe, 0xc1}, 4, {.integer = 4, .lanes = 4}},
        {"add [rax], ecx", {0x01, 0x08}, 2, {.integer = 1, .loaded = 4, .stored = 4, .lanes = 1}},
        {"imul rax, rcx", {0x48, 0x0f, 0xaf, 0xc1}, 4, {.integer = 1, .lanes = 1}},
        {"mov rax, [rcx]", {0x48, 0x8b, 0x01}, 3, {.loaded = 8}},
        {"mov rax, rcx", {0x48, 0x89, 0xc8}, 3, {0}},
        {"movaps [rax], xmm0", {0x0f, 0x29, 0x00}, 3, {.stored = 16}},
        {"push rax", {0x50}, 1, {.stored = 8}},
        {"xor eax, eax", {0x31, 0xc0}, 2, {0}},
        {"nop", {0x90}, 1, {0}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct insn_work work;
        assert_true(insn_work_of(ISA_X86_64, cases[i].bytes, cases[i].size, &work));
        if (memcmp(&work, &cases[i].work, sizeof work) != 0)
            fail_msg("%s: %u %u %u %u", cases[i].text, work.fp, work.integer, work.loaded,
                     work.stored);
    }
    /* fmadd.d fa0, fa0, fa1, fa2; ld a0, 0(a1). */
    struct insn_work work;
    assert_true(insn_work_of(ISA_RISCV64, (const uint8_t[]){0x43, 0x75, 0xb5, 0x62}, 4, &work));
    assert_int_equal(work.fp, 2);
    assert_true(insn_work_of(ISA_RISCV64, (const uint8_t[]){0x03, 0xb5, 0x05, 0x00}, 4, &work));
    assert_int_equal(work.loaded, 8);
    assert_false(insn_work_of(ISA_X86_64, (const uint8_t[]){0x06}, 1, &work));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(works_are_of_instructions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
