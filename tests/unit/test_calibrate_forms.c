/* The part of the calibration that measures instruction forms: which can be measured, that their
 * kernels can be made, what is made of measured cycles, and the table. Nothing is measured here: a
 * meter says that every kernel takes the same time. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "calibrate/form_kernels.h"
#include "calibrate/parts.h"
#include "machine/machine.h"

static insn_form form(const char *text) {
    const char *end;
    const insn_form read = form_parse(text, &end);
    assert_true(read != FORM_NONE);
    return read;
}

static void what_can_be_measured(void **state) {
    (void)state;
    const struct {
        const char *text;
        enum form_reason reason;
    } cases[] = {
        {"add r64, r64", FORM_MEASURABLE},
        {"vpaddd ymm, ymm, m256", FORM_MEASURABLE},
        {"shl r32, cl", FORM_MEASURABLE},
        {"lea r64, [b+i*s+d]", FORM_MEASURABLE},
        {"div r64", FORM_MEASURABLE},
        {"push r64", FORM_MEASURABLE},
        {"jz rel", FORM_BRANCHES},
        {"call r64", FORM_BRANCHES},
        {"ret", FORM_BRANCHES},
        {"cpuid", FORM_SYSTEM},
        {"rep movsb", FORM_REPEATS},
        {"stosb", FORM_REPEATS},
        {"fadd st, st", FORM_OTHER_REGISTERS},
        {"add r64, ymm", FORM_NOT_ENCODED},
        {"vpgatherdd ymm, vmy, ymm", FORM_GATHERS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct form_uses uses;
        const enum form_reason reason = form_examine(form(cases[i].text), &uses);
        if (reason != cases[i].reason)
            fail_msg("%s: %s", cases[i].text, form_reason_text(reason));
    }
}

static void what_operands_are_used_for(void **state) {
    (void)state;
    struct form_uses uses;
    assert_int_equal(form_examine(form("adc r64, m64"), &uses), FORM_MEASURABLE);
    assert_int_equal(uses.count, 2);
    assert_true(uses.operands[0].reads && uses.operands[0].writes);
    assert_true(uses.operands[1].reads && !uses.operands[1].writes);
    assert_int_equal(uses.flags, FORM_READS_FLAGS | FORM_WRITES_FLAGS | FORM_WRITES_ALL_FLAGS);
    assert_int_equal(form_examine(form("mul r64"), &uses), FORM_MEASURABLE);
    assert_int_equal(uses.reads, 1 << 0);           /* rax */
    assert_int_equal(uses.writes, 1 << 0 | 1 << 2); /* and rdx */
    assert_int_equal(form_examine(form("mov r8, r8"), &uses), FORM_MEASURABLE);
    assert_true(uses.operands[0].reads); /* the rest of the register stays */
    assert_int_equal(form_examine(form("mov r32, r32"), &uses), FORM_MEASURABLE);
    assert_false(uses.operands[0].reads);
}

/* The displacement is none that rename may add. */
static void lea_executes(void **state) {
    (void)state;
    struct assembler code = {0};
    struct insn insn;
    form_put(&code, form("lea r64, [b+d]"), &(struct form_choice){.base = 3});
    assert_true(insn_decode(ISA_X86_64, code.code, code.size, &insn));
    assert_int_equal(insn.form, form("lea r64, [b+d]"));
    assert_false(insn.adds_constant);
    assembler_free(&code);
}

/* 24 links of a conversion take 24 * (4 + 1.5) cycles where the move back takes 1.5. */
static void partners_are_taken_off(void **state) {
    (void)state;
    const struct form_probe probe = {.copies = 24, .transfers = 1};
    assert_true(fabs(form_probe_cycles(&probe, 24 * 5.5, 1.5) - 4) < 1e-9);
    const struct form_probe load = {.copies = 24, .partners = 2};
    assert_true(fabs(form_probe_cycles(&load, 24 * 6.0, 1.5) - 4) < 1e-9);
}

/* Of the form's throughput kernel: each destination register, in bits, and where its copies read
 * memory, up to so many. */
static uint16_t read_copies(const char *text, int64_t *displacements, size_t most) {
    struct kernel_list kernels = {0};
    struct form_probes probes = {0};
    struct form_uses uses;
    uint16_t destinations = 0;
    size_t copies = 0;
    assert_int_equal(form_examine(form(text), &uses), FORM_MEASURABLE);
    form_kernels_add(&kernels, &probes, 0, form(text), &uses);
    assert_int_equal(probes.items[0].kind, PROBE_THROUGHPUT);
    const struct assembler *code = &kernels.codes[probes.items[0].kernel];
    ZydisDecoder decoder;
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    for (size_t at = 0; at < code->size; at += insn.length) {
        assert_true(ZYAN_SUCCESS(
            ZydisDecoderDecodeFull(&decoder, code->code + at, code->size - at, &insn, operands)));
        if (insn_form_of(ISA_X86_64, code->code + at, insn.length) != form(text))
            continue;
        destinations |= (uint16_t)(1u << (operands[0].reg.value - ZYDIS_REGISTER_RAX));
        if (copies < most)
            displacements[copies++] = operands[1].mem.disp.value;
    }
    kernel_list_free(&kernels);
    free(probes.items);
    return destinations;
}

/* Ten chains where rax, rcx, rdx and rsi are free; and no two neighbours read the same 8 bytes. */
static void copies_are_independent(void **state) {
    (void)state;
    enum {
        SURE = 1 << 3 | 1 << 8 | 1 << 9 | 1 << 10 | 1 << 11 | 1 << 12,
        RAX = 1 << 0,
        RCX = 1 << 1,
        RDX = 1 << 2,
        RSI = 1 << 6
    };
    int64_t at[9] = {0};
    assert_int_equal(read_copies("imul r64, r64", at, 0), SURE | RAX | RCX | RDX | RSI);
    assert_int_equal(read_copies("shl r64, cl", at, 0), SURE | RAX | RDX | RSI);
    read_copies("imul r64, m64", at, 9);
    for (unsigned i = 0; i < 9; i++)
        assert_int_equal(at[i] - at[0], i % 8 * 8);
}

static bool measure_nothing(struct host_meter *meter, const struct host_kernel *const *kernels,
                            size_t count, struct host_result *results, struct error *error) {
    (void)meter;
    (void)error;
    for (size_t i = 0; i < count; i++) {
        assert_true(kernels[i]->code_size > 0);
        results[i] = (struct host_result){.state = HOST_MEASURED,
                                          .cycles = 7 * 720.0 / (double)kernels[i]->iterations};
    }
    return true;
}

/* Every kernel of every executed form can be made, and executes the form 720 times; 7 cycles for
 * each copy are 7 of latency where no partner is in the chain, 5 from an address. */
static void all_forms_have_kernels(void **state) {
    (void)state;
    struct host_meter meter = {.measure = measure_nothing};
    struct calibration calibration = {.meter = &meter};
    struct error error = {0};
    if (!calibration_run(&calibration, &calibrate_forms, &error))
        fail_msg("%s", error.message);
    assert_true(calibration.forms.count > 400);
    const insn_form add = form("add r64, r64"), load = form("mov r64, m64");
    unsigned seen = 0;
    for (size_t i = 0; i < calibration.forms.count; i++) {
        const struct calibrated_form *found = &calibration.forms.forms[i];
        assert_true(found->throughput == 7);
        if (found->form == add) {
            assert_true(found->latency == 7 && isnan(found->address));
            seen++;
        } else if (found->form == load) {
            assert_true(found->address == 5 && isnan(found->latency));
            seen++;
        }
    }
    assert_int_equal(seen, 2);
    assert_true(calibration.count >= 2 && calibration.findings[0].value > 400);
    assert_non_null(strstr(calibration.forms.refused, "branches"));
    calibration_free(&calibration);
}

static void the_table(void **state) {
    (void)state;
    struct calibrated_form forms[] = {
        {form("add r64, m64"), 1.02, 0.98, 5.1, 1.0, 0.252, 0.01, 3731, HOST_MEASURED, ""},
        {form("shl r32, cl"), 1, 1, NAN, 2.04, 0.5, 0.01, 12, HOST_MEASURED, ""},
        {form("lea r64, [b+i+d]"), 2, 1, NAN, NAN, 0.5, 0.01, 7, HOST_MEASURED, ""},
        {form("rorx r64, r64, i8"), NAN, NAN, NAN, NAN, NAN, 0, 5, HOST_FAILED,
         "no such instruction"},
    };
    const struct form_table table = {forms, 4, "2 branches (1.00 %)"};
    /* What is not measured stays: ports, and other forms. */
    static struct machine machine;
    struct error error;
    static const char published[] = "shl r32, cl 3 - alu1+alu2\njz rel - - alu3+branch0\n"
                                    "div r64 18,a23 10.5 div 2\nadd r64, m64 9 9 -\n";
    if (!machine_load("zen4-server", &machine, &error) ||
        !machine_forms_read(&machine, "p.forms", published, strlen(published), &error))
        fail_msg("%s", error.message);
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    assert_true(form_table_write(&table, &machine, "a processor", file));
    assert_int_equal(fclose(file), 0);
    assert_non_null(strstr(text, "Ports are not measured, but those of zen4-server.\n"));
    assert_non_null(strstr(text, "; Not measured: 2 branches (1.00 %).\n"));
    assert_non_null(
        strstr(text, "\nadd r64, m64                        1,a5       0.25   -  ; 3731\n"));
    assert_non_null(
        strstr(text, "\nshl r32, cl                         1,f2       0.50   alu1+alu2  ; 12\n"));
    assert_non_null(strstr(text, "\njz rel                              -          -      "
                                 "alu3+branch0  ; published (zen4-server)\n"));
    assert_non_null(strstr(text, "\ndiv r64                             18,a23     10.50  div 2  "
                                 "; published (zen4-server)\n"));
    assert_non_null(
        strstr(text, "2          0.50   -  ; 7, from an operand 1.00, from another 2.00\n"));
    assert_non_null(strstr(text, "\n; rorx r64, r64, i8"));
    assert_non_null(strstr(text, "; 5, no such instruction\n"));
    /* It is a table that machines take. */
    if (!machine_load("zen4-server", &machine, &error) ||
        !machine_forms_read(&machine, "t.forms", text, strlen(text), &error))
        fail_msg("%s", error.message);
    assert_int_equal(machine.form_count, 5);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_can_be_measured),
        cmocka_unit_test(what_operands_are_used_for),
        cmocka_unit_test(lea_executes),
        cmocka_unit_test(partners_are_taken_off),
        cmocka_unit_test(copies_are_independent),
        cmocka_unit_test(all_forms_have_kernels),
        cmocka_unit_test(the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
