/* Kernels on a simulated machine: their cycles are those that its description says. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "calibrate/calibration.h"
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(cycles_are_the_machines, start, end),
        cmocka_unit_test_setup_teardown(a_kernel_that_faults_fails_alone, start, end),
        cmocka_unit_test_setup_teardown(the_width_is_read_back, start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
