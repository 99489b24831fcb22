/* Kernels on a simulated machine: their cycles are those that its description says. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "calibrate/calibration.h"
#include "calibrate/dispatch.h"
#include "calibrate/simulated.h"

static struct machine machine;
static struct simulated_meter simulated;
static struct calibration calibration;

static int start(void **state) {
    (void)state;
    struct error error = {0};
    calibration = (struct calibration){.meter = &simulated.meter};
    return !machine_load("zen4", &machine, &error) ||
           !simulated_meter(&simulated, &machine, false, &(struct watcher){0}, &error);
}

static int end(void **state) {
    (void)state;
    calibration_free(&calibration);
    return 0;
}

static void measure(struct kernel_list *list) {
    struct error error = {0};
    if (!calibration_measure(&calibration, list, &error))
        fail_msg("%s", error.message);
}

enum { UNROLLED = 50 };
static void repeat_form(struct kernel_list *list, const struct host_kernel *kernel,
                        ZydisMnemonic mnemonic, ZydisEncoderOperand to, ZydisEncoderOperand from) {
    struct assembler *code = kernel_list_add(list, kernel);
    if (kernel->data)
        ASSEMBLE(code, MOV, REG(RAX), REG(R14));
    struct label loop = host_loop_begin(code);
    for (unsigned i = 0; i < UNROLLED; i++)
        assembler_put(code, mnemonic, (const ZydisEncoderOperand[]){to, from}, 2);
    host_loop_end(code, &loop);
}

/* The latencies of zen4.ini, the chase's address generation included; and 8 µops commit in a
 * cycle but 6 dispatch: 50 + dec and jnz, of which the pair fuses, are 51 / 6. */
static void cycles_are_the_machines(void **state) {
    (void)state;
    static const struct host_fill CHASE = {
        .kind = HOST_FILL_CHASE, .size = 16384, .stride = 192, .seed = 1};
    static const struct host_data DATA = {.size = 16384, .fills = &CHASE, .fill_count = 1};
    const struct host_kernel plain = {.iterations = 100};
    const struct host_kernel chase = {.iterations = 100, .data = &DATA};
    static const double EXPECTED[] = {1, 3, 3, 4, 51.0 / 6 / UNROLLED};
    struct kernel_list list = {0};
    repeat_form(&list, &plain, ZYDIS_MNEMONIC_ADD, REG(RAX), REG(RBX));
    repeat_form(&list, &plain, ZYDIS_MNEMONIC_IMUL, REG(RAX), REG(RBX));
    repeat_form(&list, &plain, ZYDIS_MNEMONIC_ADDPD, REG(XMM0), REG(XMM1));
    repeat_form(&list, &chase, ZYDIS_MNEMONIC_MOV, REG(RAX), MEMORY(RAX, 0, 64));
    struct assembler *code = kernel_list_add(&list, &plain);
    struct label loop = host_loop_begin(code);
    assembler_nops(code, UNROLLED);
    host_loop_end(code, &loop);
    measure(&list);
    for (unsigned i = 0; i < list.count; i++) {
        assert_int_equal(list.results[i].state, HOST_MEASURED);
        if (fabs(list.results[i].cycles / UNROLLED - EXPECTED[i]) > 0.02)
            fail_msg("kernel %u: %f cycles, not %f", i, list.results[i].cycles / UNROLLED,
                     EXPECTED[i]);
    }
    kernel_list_free(&list);
}

/* One that faults ends its program; those behind it run in the next. */
static void a_kernel_that_faults_fails_alone(void **state) {
    (void)state;
    struct kernel_list list = {0};
    for (unsigned i = 0; i < 3; i++) {
        struct assembler *code = kernel_list_add(&list, &(struct host_kernel){.iterations = 10});
        struct label loop = host_loop_begin(code);
        if (i == 1)
            ASSEMBLE(code, MOV, REG(RAX), MEMORY(RAX, 0, 64));
        ASSEMBLE(code, IMUL, REG(RBX), REG(RBX));
        host_loop_end(code, &loop);
    }
    list.kernels[2].features = HOST_AVX512F;
    measure(&list);
    assert_int_equal(list.results[0].state, HOST_MEASURED);
    assert_int_equal(list.results[1].state, HOST_FAILED);
    assert_string_equal(list.results[1].failure, "ends the program that it is run in");
    assert_int_equal(list.results[2].state, HOST_UNSUPPORTED);
    assert_string_equal(list.results[2].failure, "the processor has no avx512f");
    kernel_list_free(&list);
}

static void the_width_is_read_back(void **state) {
    (void)state;
    struct error error = {0};
    for (unsigned width = 2; width <= 8; width += 3) {
        machine.core.dispatch_width = width;
        machine.core.fetch_width = machine.core.commit_width = 8;
        if (!calibration_run(&calibration, calibrate_part_find("width"), &error))
            fail_msg("%s", error.message);
        assert_float_equal(calibration_value(&calibration, "core.dispatch_width", 0), width, 0);
    }
}

/* ---- a processor whose no-ops share a µop by pairs ---- */

static bool (*measure_as_is)(struct host_meter *, const struct host_kernel *const *, size_t,
                             struct host_result *, struct error *);

/* Two no-ops of a byte become one of two bytes. */
static void join_no_ops(uint8_t *code, size_t size) {
    ZydisDecoder decoder;
    ZydisDecodedInstruction insn;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    for (size_t at = 0; at < size; at += insn.length) {
        assert_true(ZYAN_SUCCESS(
            ZydisDecoderDecodeInstruction(&decoder, NULL, code + at, size - at, &insn)));
        if (at + 1 < size && insn.length == 1 && code[at] == 0x90 && code[at + 1] == 0x90) {
            code[at] = 0x66;
            at++;
        }
    }
}

static bool measure_joined(struct host_meter *meter, const struct host_kernel *const *kernels,
                           size_t count, struct host_result *results, struct error *error) {
    struct host_kernel *joined = calloc(count, sizeof *joined);
    const struct host_kernel **places = calloc(count, sizeof(struct host_kernel *));
    for (size_t i = 0; i < count; i++) {
        uint8_t *code = malloc(kernels[i]->code_size);
        memcpy(code, kernels[i]->code, kernels[i]->code_size);
        join_no_ops(code, kernels[i]->code_size);
        joined[i] = *kernels[i];
        joined[i].code = code;
        places[i] = &joined[i];
    }
    const bool good = measure_as_is(meter, places, count, results, error);
    for (size_t i = 0; i < count; i++)
        free((void *)joined[i].code);
    free(joined);
    free(places);
    return good;
}

static void run_part(const char *name) {
    struct error error = {0};
    if (!calibration_run(&calibration, calibrate_part_find(name), &error))
        fail_msg("%s", error.message);
}

/* 10 no-ops a cycle are 5 µops, and 2 (238 - 2) of them lie in a reorder buffer of 238. */
static void no_ops_that_share_a_µop_are_no_measure(void **state) {
    (void)state;
    machine.core.dispatch_width = 5;
    machine.core.rob = 238;
    measure_as_is = simulated.meter.measure;
    simulated.meter.measure = measure_joined;
    run_part("width");
    run_part("rename");
    run_part("window");
    const struct finding *no_ops = &calibration.findings[0];
    assert_string_equal(no_ops->what, "no-ops");
    assert_float_equal(no_ops->value, 10, 0.1);
    assert_float_equal(calibration_value(&calibration, "core.dispatch_width", 0), 5, 0);
    assert_float_equal(calibration_value(&calibration, "core.rob", 0), 238, 1);
    assert_string_equal(calibration_finding(&calibration, "core.fuse_compare_branch")->word, "yes");
}

static const struct finding *finding_of(const char *what) {
    for (size_t i = 0; i < calibration.count; i++)
        if (!strcmp(calibration.findings[i].what, what))
            return &calibration.findings[i];
    return NULL;
}

/* Flags have the registers of integers here, and no others. */
static void flags_have_no_registers_of_their_own(void **state) {
    (void)state;
    run_part("window");
    assert_float_equal(calibration_value(&calibration, "core.int_registers", 0),
                       machine.core.int_registers, 0);
    assert_int_equal(finding_of("registers of flags")->state, FINDING_UNKNOWN);
    assert_string_equal(finding_of("registers of flags")->note, "they have none of their own");
}

/* Some of their own are read, and those of integers as before. */
static void registers_of_flags_are_read(void **state) {
    (void)state;
    machine.core.flag_registers = 90;
    run_part("window");
    assert_float_equal(calibration_value(&calibration, "core.flag_registers", 0), 90, 0);
    assert_float_equal(calibration_value(&calibration, "core.int_registers", 0),
                       machine.core.int_registers, 0);
}

/* What moves of registers show then are registers. */
static void moves_that_take_registers_show_no_reorder_buffer(void **state) {
    (void)state;
    machine.core.eliminate_moves = false;
    measure_as_is = simulated.meter.measure;
    simulated.meter.measure = measure_joined;
    run_part("window");
    assert_null(calibration_finding(&calibration, "core.rob"));
    assert_float_equal(calibration_value(&calibration, "core.int_registers", 0),
                       machine.core.int_registers, 1);
}

/* Where constants are added at rename, that is found, and nothing else looks different for it: the
 * four ALUs, and the registers that results take. */
static void additions_at_rename_are_found(void **state) {
    (void)state;
    run_part("rename");
    assert_string_equal(calibration_finding(&calibration, "core.eliminate_additions")->word, "no");
    machine.core.eliminate_additions = true;
    run_part("rename");
    assert_string_equal(calibration_finding(&calibration, "core.eliminate_additions")->word, "yes");
    const size_t before = calibration.count;
    run_part("width");
    assert_string_equal(calibration.findings[before + 1].what, "additions");
    assert_float_equal(calibration.findings[before + 1].value, 4, 0.02);
    run_part("window");
    assert_float_equal(calibration_value(&calibration, "core.int_registers", 0),
                       machine.core.int_registers, 1);
}

/* In the simulation only an operation has no place of its own, and only if the machine says so. */
static void µops_of_their_own_are_not_one(void **state) {
    (void)state;
    machine.core.fuse_loads = false;
    run_part("fused");
    assert_int_equal(calibration.count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(calibration.findings[i].word, "no");
}

static void a_load_and_its_operation_are_one(void **state) {
    (void)state;
    machine.core.fuse_loads = true;
    run_part("fused");
    assert_string_equal(calibration_finding(&calibration, "core.fuse_loads")->word, "yes");
    for (size_t i = 1; i < 4; i++)
        assert_string_equal(calibration.findings[i].word, "no");
}

static void indexed_operands_of_vectors_may_be_two(void **state) {
    (void)state;
    machine.core.fuse_loads = machine.core.unlaminate_indexed = true;
    run_part("fused");
    assert_string_equal(calibration_finding(&calibration, "core.fuse_loads")->word, "yes");
    assert_string_equal(calibration_finding(&calibration, "core.unlaminate_indexed")->word, "yes");
    machine.core.unlaminate_indexed = false;
    run_part("fused");
    assert_string_equal(calibration_finding(&calibration, "core.unlaminate_indexed")->word, "no");
}

/* Few units of one kind hold back mixes of it, not what else enters the core. */
static void few_units_are_no_narrow_dispatch(void **state) {
    (void)state;
    machine.core.dispatch_width = 6;
    machine.core.eliminate_moves = false;
    for (unsigned i = 0; i < machine.pool_count; i++)
        if (machine.pools[i].units == 4)
            machine.pools[i].units = 1;
    run_part("width");
    assert_float_equal(calibration_value(&calibration, "core.dispatch_width", 0), 6, 0);
}

/* What is seen of half a core is no width: 3.4 moves and 6.9 no-ops a cycle. */
static void half_a_core_has_no_width(void **state) {
    (void)state;
    static const double PER_CYCLE[][MIXES] = {{11.95, 4.0, 5.99, 5.99, 7.97, 4.0, 5.99},
                                              {6.85, 2.3, 3.44, 3.44, 4.6, 3.18, 3.45},
                                              {8.0, 5.36, 7.17, 6.24, 7.18, 4.0, 7.9}};
    static const struct {
        double width;
        bool whole, no_ops_share;
    } EXPECTED[] = {{6, true, true}, {3, false, true}, {8, true, false}};
    for (unsigned i = 0; i < 3; i++) {
        struct dispatch dispatch = {0};
        for (unsigned mix = 0; mix < MIXES; mix++)
            dispatch.results[mix] =
                (struct host_result){.state = HOST_MEASURED, .cycles = 1 / PER_CYCLE[i][mix]};
        dispatch_conclude(&dispatch);
        assert_float_equal(dispatch.width, EXPECTED[i].width, 0);
        assert_int_equal(dispatch.whole, EXPECTED[i].whole);
        assert_int_equal(dispatch.no_ops_share, EXPECTED[i].no_ops_share);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(cycles_are_the_machines, start, end),
        cmocka_unit_test_setup_teardown(a_kernel_that_faults_fails_alone, start, end),
        cmocka_unit_test_setup_teardown(the_width_is_read_back, start, end),
        cmocka_unit_test_setup_teardown(no_ops_that_share_a_µop_are_no_measure, start, end),
        cmocka_unit_test_setup_teardown(flags_have_no_registers_of_their_own, start, end),
        cmocka_unit_test_setup_teardown(registers_of_flags_are_read, start, end),
        cmocka_unit_test_setup_teardown(moves_that_take_registers_show_no_reorder_buffer, start,
                                        end),
        cmocka_unit_test_setup_teardown(additions_at_rename_are_found, start, end),
        cmocka_unit_test_setup_teardown(µops_of_their_own_are_not_one, start, end),
        cmocka_unit_test_setup_teardown(a_load_and_its_operation_are_one, start, end),
        cmocka_unit_test_setup_teardown(indexed_operands_of_vectors_may_be_two, start, end),
        cmocka_unit_test_setup_teardown(few_units_are_no_narrow_dispatch, start, end),
        cmocka_unit_test(half_a_core_has_no_width),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
