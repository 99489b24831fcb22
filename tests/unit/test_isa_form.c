/* Instruction forms: what they tell apart and what not, their texts, and hostile bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "isa/form.h"

enum { TRIES = 300000 };

static insn_form form_of(const char *hexadecimal) {
    uint8_t bytes[16];
    size_t size = 0;
    int used;
    for (unsigned byte; sscanf(hexadecimal, "%2x%n", &byte, &used) == 1; hexadecimal += used)
        bytes[size++] = (uint8_t)byte;
    return insn_form_of(ISA_X86_64, bytes, size);
}

static void forms_of_instructions(void **state) {
    (void)state;
    const struct {
        const char *bytes, *text;
    } cases[] = {
        {"4801c3", "add r64, r64"},
        {"4883c301", "add r64, i8"},
        {"4805aabb0000", "add r64, i32"}, /* the short form for the accumulator */
        {"4881c3aabb0000", "add r64, i32"},
        {"00c3", "add r8, r8"},
        {"6601c3", "add r16, r16"},
        {"480303", "add r64, m64"},
        {"f0480103", "lock add m64, r64"},
        {"486bc305", "imul r64, r64, i8"},
        {"4869c3aabb0000", "imul r64, r64, i32"},
        {"48f7eb", "imul r64"},
        {"d3e3", "shl r32, cl"},
        {"d1e3", "shl r32, 1"},
        {"c1e305", "shl r32, i8"},
        {"88cb", "mov r8, r8"}, /* from cl, which it names */
        {"48b80102030405060708", "mov r64, i64"},
        {"488d03", "lea r64, [b]"},
        {"488d4308", "lea r64, [b+d]"},
        {"488d0418", "lea r64, [b+i]"},
        {"488d0498", "lea r64, [b+i*s]"},
        {"488d449808", "lea r64, [b+i*s+d]"},
        {"488d441808", "lea r64, [b+i+d]"},
        {"488d049d00000000", "lea r64, [i*s]"},
        {"488d0500010000", "lea r64, [d]"},
        {"c5f5fec2", "vpaddd ymm, ymm, ymm"},
        {"c5f5fe03", "vpaddd ymm, ymm, m256"},
        {"62f17528fec2", "vpaddd ymm, ymm, ymm"}, /* by EVEX */
        {"62f17529fec2", "vpaddd ymm{k}, ymm, ymm"},
        {"62f175a9fec2", "vpaddd ymm{k}{z}, ymm, ymm"},
        {"62f17558fe03", "vpaddd zmm, zmm, m32bcst"},
        {"c4e26d90040b", "vpgatherdd ymm, vmy, ymm"},
        {"f3480fb8c3", "popcnt r64, r64"},
        {"99", "cdq"},
        {"f348a5", "rep movsq"},
        {"7405", "jz rel"},
        {"d8c1", "fadd st, st"},
        {"0f6fc1", "movq mm, mm"},
        {"e8aabb0000", "call rel"},
        {"ffd0", "call r64"},
        {"ff10", "call m64"},
        {"58", "pop r64"},
        {"480faec3", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[FORM_TEXT_SIZE];
        form_text(form_of(cases[i].bytes), text);
        if (strcmp(text, cases[i].text))
            fail_msg("%s: %s, not %s", cases[i].bytes, text, cases[i].text);
    }
}

static void texts_are_read_back(void **state) {
    (void)state;
    const char *end;
    char text[FORM_TEXT_SIZE];
    const char line[] = "  lock  cmpxchg m64,\tr64   20 18 alu";
    form_text(form_parse(line, &end), text);
    assert_string_equal(text, "lock cmpxchg m64, r64");
    assert_string_equal(end, "   20 18 alu");
    form_text(form_parse("cdq 1 0.5", &end), text);
    assert_string_equal(text, "cdq");
    assert_string_equal(end, " 1 0.5");
    assert_true(form_parse("vaddps zmm{k}{z}, zmm, m32bcst", &end) != FORM_NONE);
    assert_string_equal(end, "");
}

static void what_is_no_form(void **state) {
    (void)state;
    const struct {
        const char *text, *end;
    } cases[] = {{"", ""},
                 {"adds r64, r64", "adds r64, r64"},
                 {"ad r64", "ad r64"},
                 {"invalid", "invalid"},
                 {"add r64, q64", "q64"},
                 {"add r64,", ""},
                 {"add r64, r64{k}", "r64{k}"},
                 {"lock", ""},
                 {"add r8, r8, r8, r8, r8, r8", " r8"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *end;
        assert_true(form_parse(cases[i].text, &end) == FORM_NONE);
        assert_string_equal(end, cases[i].end);
    }
}

static void other_architectures_have_none(void **state) {
    (void)state;
    const uint8_t add[] = {0x33, 0x85, 0xc5, 0x00};
    assert_true(insn_form_of(ISA_RISCV64, add, sizeof add) == FORM_NONE);
}

/* Nothing is read past the bytes, which end at a page that cannot be read, and the text of every
 * form is read back as that form. */
static void any_bytes(void **state) {
    (void)state;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *pages =
        mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED);
    assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
    unsigned forms = 0;
    srandom(1);
    for (unsigned i = 0; i < TRIES; i++) {
        static const uint8_t STARTS[] = {0x0f, 0x48, 0x62, 0xc4, 0xc5, 0x66, 0xf2, 0xf3, 0xf0};
        const size_t size = (size_t)random() % 16;
        uint8_t *bytes = pages + page - size;
        for (size_t k = 0; k < size; k++)
            bytes[k] = (uint8_t)random();
        if (size && i % 2)
            bytes[0] = STARTS[(size_t)random() % sizeof STARTS];
        const insn_form form = insn_form_of(ISA_X86_64, bytes, size);
        char text[FORM_TEXT_SIZE];
        const char *end;
        form_text(form, text);
        if (form == FORM_NONE)
            continue;
        forms++;
        assert_true(strlen(text) < FORM_TEXT_SIZE - 1);
        if (form_parse(text, &end) != form || *end)
            fail_msg("%s", text);
    }
    assert_true(forms > TRIES / 4);
    munmap(pages, 2 * page);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_of_instructions),
        cmocka_unit_test(texts_are_read_back),
        cmocka_unit_test(what_is_no_form),
        cmocka_unit_test(other_architectures_have_none),
        cmocka_unit_test(any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
